/**
 * The app key and secret: read from the secret source, kept for a while, and read again once, not in a
 * storm, when the upstream refuses a signature.
 */

import { createSigner, SignError, type Signer } from '../signer/index.ts';
import type { RefusalCode } from './refusals.ts';

/** Port: where the secret is kept. */
export interface SecretSource {
  /**
   * The secret's text, `{"app_key": "…", "app_secret": "…"}` with an optional `access_token`; undefined or
   * empty when none is set. Rejects when the source cannot be asked.
   */
  read(): Promise<string | undefined>;
}

/** Who we are at the upstream. Holds the signing key, which cannot be read back. */
export interface Identity {
  readonly signer: Signer;
  /** Sent as x-access-token, unsigned, when the upstream asks for two-factor tokens. */
  readonly accessToken?: string;
  /** Replaces what is secret in a text that others wrote. */
  redact(text: string): string;
}

export type SecretRefusalCode = Extract<RefusalCode, `secret_${string}`>;

export type IdentityResult =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly code: SecretRefusalCode };

export interface Credentials {
  current(): Promise<IdentityResult>;
  /**
   * Called with the identity that the upstream refused. Gives a newer one if there is one; the source is
   * asked at most once per `renewalPauseMs`, however many requests are refused.
   */
  renew(refused: Identity): Promise<Identity | undefined>;
}

export interface CredentialsOptions {
  readonly source: SecretSource;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random?: () => string;
  /** How long a secret is used without asking again. Default 5 minutes. */
  readonly timeToLiveMs?: number;
  /** Default 10 seconds; also the pause after a failed read while an older secret is still known. */
  readonly renewalPauseMs?: number;
}

export function createCredentials(options: CredentialsOptions): Credentials {
  const { source, clock, timeToLiveMs = 300_000, renewalPauseMs = 10_000 } = options;
  let known: { readonly text: string; readonly identity: Identity } | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let nextRenewal = Number.NEGATIVE_INFINITY;
  let reading: Promise<IdentityResult> | undefined;

  /** One read at a time; the last good secret outlives a source that cannot be asked. */
  function read(): Promise<IdentityResult> {
    reading ??= readOnce().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function readOnce(): Promise<IdentityResult> {
    let text: string | undefined;
    try {
      text = await source.read();
    } catch {
      if (!known) return { ok: false, code: 'secret_unavailable' };
      freshUntil = clock() + renewalPauseMs;
      return { ok: true, identity: known.identity };
    }
    freshUntil = clock() + timeToLiveMs;
    if (known && text === known.text) return { ok: true, identity: known.identity };
    const result = toIdentity(text, options);
    known = result.ok && text !== undefined ? { text, identity: result.identity } : undefined;
    return result;
  }

  return {
    async current() {
      return known && clock() < freshUntil ? { ok: true, identity: known.identity } : read();
    },
    async renew(refused) {
      if (known?.identity === refused || reading) {
        if (!reading) {
          if (clock() < nextRenewal) return undefined;
          nextRenewal = clock() + renewalPauseMs;
        }
        await read();
      }
      return known?.identity === refused ? undefined : known?.identity;
    },
  };
}

/** A malformed secret is named by its code alone: its text never reaches an error. */
function toIdentity(
  text: string | undefined,
  { clock, random }: Pick<CredentialsOptions, 'clock' | 'random'>,
): IdentityResult {
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
