/** The request signer: Web APIs only, no dependency. */

export { CountersignError, SignError, type SignErrorCode } from './errors.ts';
export { type Difference, type ExplainInput, type Explanation, explain } from './explain.ts';
export type { Query, QueryValue, SignInput } from './request.ts';
export {
  createSignedFetch,
  type SignedFetch,
  type SignedFetchInit,
  type SignedFetchOptions,
} from './signed-fetch.ts';
export { createSigner, type Digests, type SignedRequest, type Signer, type SignerOptions } from './signer.ts';
export {
  createSubscriptionSigner,
  type SubscriptionSigner,
  type SubscriptionSignerOptions,
} from './subscription.ts';
