/** Verifies signed requests: the signer's counterpart, for tests, simulators and proxies. */

export { createMemoryNonceStore, type NonceStore } from './nonces.ts';
export {
  createVerifier,
  type ReceivedRequest,
  type Verification,
  type Verifier,
  type VerifierOptions,
  type VerifyRefusal,
} from './verifier.ts';
