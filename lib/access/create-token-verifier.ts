/** Verifies access tokens of one OpenID Connect issuer, on any runtime with WebCrypto. */

import { compactVerify } from 'jose/jws/compact/verify';
import { steadyClock } from '../kernel/age.ts';
import type { WebCryptoKey } from '../kernel/sealer.ts';
import {
  type AuthSettings,
  authSettingsFaults,
  type SignatureAlgorithm,
  signatureAlgorithms,
} from './auth-settings.ts';
import { createIssuerKeys } from './issuer-keys.ts';
import { createFetchText, type ReadText } from './read-text.ts';
import { readClaims } from './token-claims.ts';
import { readToken } from './token-form.ts';
import type { TokenVerifier } from './verifier.ts';

export interface TokenVerifierOptions extends AuthSettings {
  /** Default: uses the runtime's fetch. */
  readonly readText?: ReadText;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Called with the error when the issuer's keys could not be read. */
  readonly onFailure?: (error: unknown) => void;
  /** Reads the issuer's keys at once. Default: reads them with the first token, as some runtimes have no network before. */
  readonly readAhead?: boolean;
}

/**
 * Creates a verifier. A process needs one for each issuer, because it caches the issuer's keys. It caches no token,
 * because a verification takes a tenth of a millisecond.
 *
 * @throws TypeError for settings that would accept no token, or too many
 *
 * @example
 * const verifier = createTokenVerifier({
 *   issuer: 'https://issuer.example.com',
 *   audience: 'https://api.example.com',
 * });
 * const verification = await verifier.verify(token);
 * if (verification.ok) console.log(verification.claims.scopes);
 */
export function createTokenVerifier({
  readText = createFetchText(),
  clock = Date.now,
  onFailure,
  readAhead = false,
  ...settings
}: TokenVerifierOptions): TokenVerifier {
  const faults = authSettingsFaults(settings);
  if (faults.length > 0)
    throw new TypeError(`The settings of a token verifier are wrong: ${faults.join('; ')}.`);
  const { issuer, jwksUri, algorithms = signatureAlgorithms } = settings;
  const issuerKeys = createIssuerKeys({
    issuer,
    readText,
    clock: steadyClock(clock),
    readAhead,
    jwksUri,
    onFailure,
  });
  return {
    async verify(token) {
      const read = readToken(token, algorithms);
      if ('fault' in read) return { ok: false, fault: read.fault };
      const { payload, keyId, algorithm, type } = read;
      // Checked before the key look-up: another issuer's token must not cause a request to this issuer.
      if (payload.iss !== issuer) return { ok: false, fault: 'wrong_issuer' };
      const found = await issuerKeys.find(keyId, algorithm);
      if (!found.ok) return found;
      if (!(await isSignedByOne(token, found.keys, algorithm)))
        return { ok: false, fault: 'wrong_signature' };
      const claims = readClaims(payload, type, settings, clock());
      return 'fault' in claims ? { ok: false, fault: claims.fault } : { ok: true, claims };
    },
  };
}

/** Tries each key: two may have one id, because an issuer need not make ids unique between kinds of keys. */
async function isSignedByOne(
  token: string,
  keys: readonly WebCryptoKey[],
  algorithm: SignatureAlgorithm,
): Promise<boolean> {
  for (const key of keys) {
    const isSigned = await compactVerify(token, key, { algorithms: [algorithm] }).then(
      () => true,
      () => false,
    );
    if (isSigned) return true;
  }
  return false;
}
