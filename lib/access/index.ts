/**
 * Identifies callers and knows their rights: verifies access tokens, with or without a gateway, and keeps the directory of
 * grants that operators manage.
 *
 * @example
 * const verifier = createTokenVerifier({ issuer: 'https://issuer.example.com', audience: 'https://api.example.com' });
 */

export {
  type AccessAdmin,
  type AccessAdminOptions,
  type AccessAuditLine,
  type Applied,
  createAccessAdmin,
  type Listed,
  type SealedListing,
} from './admin.ts';
export {
  type AuthSettings,
  authSettingsFaults,
  type SignatureAlgorithm,
  signatureAlgorithms,
} from './auth-settings.ts';
export { AccessChangeError, type GrantChange } from './change.ts';
export { createDirectory, type DirectoryOptions } from './create-directory.ts';
export { createTokenVerifier, type TokenVerifierOptions } from './create-token-verifier.ts';
export type { Directory, Grants, KeyedNames, Standing, StandingQuestion } from './directory.ts';
export { type Principal, principalArn, type SenderEvidence, type TokenClaims } from './evidence.ts';
export { createIdentity, type Identity } from './identity.ts';
export { createFetchText, type ReadText } from './read-text.ts';
export type { AccessRecord, AccessSubject, BlockRecord, PrincipalRecord } from './records.ts';
export {
  type AccessEntry,
  type AccessStore,
  type AccessWrite,
  type AuditEntry,
  createMemoryAccessStore,
} from './store.ts';
export {
  bearerToken,
  type TokenFault,
  type TokenVerification,
  type TokenVerifier,
  tokenFaults,
} from './verifier.ts';
