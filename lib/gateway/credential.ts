/** Creates the gateway's credential at the upstream, app key and signer, from the secret's text. */

import { createSealer, type Sealer, sealingKey } from '../kernel/sealer.ts';
import { limiterKey } from '../limiter/store.ts';
import type { RefusalCode } from '../problem.ts';
import { createSigner, type Digests, SignError, type Signer } from '../signer/index.ts';
import { createRedactor, holdsOneOf } from './redact.ts';

/** Authenticates requests at the upstream. The signing key within cannot be read back. */
export interface Credential {
  /** The limiter counts by app key; it must not appear in an answer, log or report. */
  readonly appKey: string;
  readonly signer: Signer;
  /** Sent as x-access-token, unsigned, when the upstream asks for two-factor tokens. */
  readonly accessToken?: string | undefined;
  /** Encrypts account data in stores that instances share. */
  readonly sealer: Sealer;
  /** Replaces the secrets in a text of the upstream, in every form that the redactor knows. */
  redact(text: string): string;
  /** Whether an answer contains one of the secrets; quick even for an answer of megabytes. */
  holdsSecret(answer: Uint8Array): boolean;
}

type SecretRefusalCode = Extract<RefusalCode, `secret_${string}`>;

export type CredentialResult =
  | { readonly ok: true; readonly credential: Credential }
  | { readonly ok: false; readonly code: SecretRefusalCode };

export interface SigningPorts {
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly nonce?: (() => string) | undefined;
  readonly digests?: Digests | undefined;
}

/** Parses the secret's text. A malformed secret gives a code only: its text never reaches an error. */
export function toCredential(
  text: string | undefined,
  { clock, nonce, digests }: SigningPorts,
): CredentialResult {
  if (!text?.trim()) return { ok: false, code: 'secret_not_set' };
  let secret: unknown;
  try {
    secret = JSON.parse(text);
  } catch {
    return { ok: false, code: 'secret_invalid' };
  }
  if (typeof secret !== 'object' || secret === null) return { ok: false, code: 'secret_invalid' };
  const {
    app_key: appKey,
    app_secret: appSecret,
    access_token: accessToken,
  } = secret as Record<string, unknown>;
  if (isUnset(appKey) && isUnset(appSecret)) return { ok: false, code: 'secret_not_set' };
  if (typeof appKey !== 'string' || typeof appSecret !== 'string')
    return { ok: false, code: 'secret_invalid' };
  if (!isUnset(accessToken) && !(typeof accessToken === 'string' && /^[!-~]+$/.test(accessToken)))
    return { ok: false, code: 'secret_invalid' };
  let signer: Signer;
  try {
    signer = createSigner({ appKey, appSecret, clock, nonce, digests });
  } catch (error) {
    if (error instanceof SignError) return { ok: false, code: 'secret_invalid' };
    throw error;
  }
  const token = isUnset(accessToken) ? undefined : accessToken;
  const secrets = [appSecret, appKey, ...(token === undefined ? [] : [token])];
  return {
    ok: true,
    credential: {
      appKey,
      signer,
      accessToken: token,
      sealer: createSealer(() =>
        sealingKey({ secret: appSecret, salt: appKey, info: 'countersign: account data at rest' }),
      ),
      redact: createRedactor(secrets),
      holdsSecret: holdsOneOf(secrets),
    },
  };
}

const isUnset = (value: unknown): value is '' | null | undefined =>
  value === undefined || value === null || value === '';

const accountNames = new WeakMap<Credential, Promise<string>>();

/**
 * The account's name in stores, which does not reveal the app key. It keeps cached data apart: another account that the
 * secret names later must not see it.
 */
export function accountOf(credential: Credential): Promise<string> {
  const name = accountNames.get(credential) ?? limiterKey('account', credential.appKey);
  accountNames.set(credential, name);
  return name;
}
