/** Who we are at the upstream: what is made of the secret's text. */

import type { RefusalCode } from '../problem.ts';
import { createSigner, SignError, type Signer } from '../signer/index.ts';

/** Holds the signing key, which cannot be read back. */
export interface Credential {
  /** For the budget, which is counted by it; it belongs in no answer, log or report. */
  readonly appKey: string;
  readonly signer: Signer;
  /** Sent as x-access-token, unsigned, when the upstream asks for two-factor tokens. */
  readonly accessToken?: string;
  /** Replaces what is secret in a text that others wrote. */
  redact(text: string): string;
}

export type SecretRefusalCode = Extract<RefusalCode, `secret_${string}`>;

export type CredentialResult =
  | { readonly ok: true; readonly identity: Credential }
  | { readonly ok: false; readonly code: SecretRefusalCode };

export interface SigningPorts {
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random?: () => string;
}

/** A malformed secret is named by its code alone: its text never reaches an error. */
export function toCredential(text: string | undefined, { clock, random }: SigningPorts): CredentialResult {
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
    signer = createSigner({ appKey, appSecret, clock, ...(random && { nonce: random }) });
  } catch (error) {
    if (error instanceof SignError) return { ok: false, code: 'secret_invalid' };
    throw error;
  }
  const token = isUnset(accessToken) ? undefined : accessToken;
  return {
    ok: true,
    identity: {
      appKey,
      signer,
      ...(token !== undefined && { accessToken: token }),
      redact: (words) =>
        [appSecret, token, appKey].reduce<string>(
          (left, hidden) => (hidden ? left.replaceAll(hidden, '[redacted]') : left),
          words,
        ),
    },
  };
}

const isUnset = (value: unknown): value is '' | null | undefined =>
  value === undefined || value === null || value === '';
