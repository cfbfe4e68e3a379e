/**
 * The app key and secret: read from the secret source, kept for a while, and read again once, not in a
 * storm, when the upstream refuses a signature. For reads the secret's previous version stands in while the
 * current one is malformed or refused, as it is when a wrong or not yet active one was just put there.
 */

import { type Credential, type CredentialResult, type SigningPorts, toCredential } from './credential.ts';

export type { Credential, CredentialResult, SecretRefusalCode } from './credential.ts';

/** Port: where the secret is kept. */
export interface SecretSource {
  /**
   * The secret's text, `{"app_key": "…", "app_secret": "…"}` with an optional `access_token`; undefined or
   * empty when none is set. Rejects when the source cannot be asked. A source without versions may give the
   * same text for both: equal texts are tried once.
   */
  read(version?: SecretVersion): Promise<string | undefined>;
}

/** `current` when absent; `previous` is what was current before. */
export type SecretVersion = 'current' | 'previous';

export interface Credentials {
  /** What a request with a side effect is signed with. */
  current(): Promise<CredentialResult>;
  /** What a read is signed with: the same, or the previous secret while the current one cannot be used. */
  forRead(): Promise<CredentialResult>;
  /**
   * Called with the identity that the upstream refused. Gives a newer one if there is one; the source is
   * asked at most once per `renewalPauseMs`, however many requests are refused.
   */
  renew(refused: Credential): Promise<Credential | undefined>;
  /** For a read when there is nothing newer: the previous secret's identity, asked for as rarely. */
  fallback(refused: Credential): Promise<Credential | undefined>;
  /**
   * What the upstream thinks of the fallback: accepted, reads keep to it, refused, nobody tries it again,
   * each until the pause is over. So a wrong current secret does not double every read at the upstream.
   */
  fallbackTried(identity: Credential, accepted: boolean): void;
}

export interface CredentialsOptions extends SigningPorts {
  readonly source: SecretSource;
  /** How long a secret is used without asking again. Default 5 minutes. */
  readonly timeToLiveMs?: number;
  /** Default 10 seconds; also the pause after a failed read while an older secret is still known. */
  readonly renewalPauseMs?: number;
}

/** How long nothing is asked after there was no secret to use: short, because somebody is about to set it. */
const failurePauseMs = 1000;

export function createCredentials(options: CredentialsOptions): Credentials {
  const { source, clock, timeToLiveMs = 300_000, renewalPauseMs = 10_000 } = options;
  let known: { readonly text: string; readonly identity: Credential } | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let nextRenewal = Number.NEGATIVE_INFINITY;
  let reading: Promise<CredentialResult> | undefined;
  let failed: { readonly result: CredentialResult; readonly until: number } | undefined;
  let previous: Promise<Credential | undefined> = Promise.resolve(undefined);
  let nextPrevious = Number.NEGATIVE_INFINITY;
  let preferred: { readonly identity: Credential; readonly until: number } | undefined;

  /** One read at a time; the last good secret outlives a source that cannot be asked. */
  function read(): Promise<CredentialResult> {
    reading ??= readOnce()
      .then((result) => {
        // A source that could not be asked is asked again by the next request: its failure is slow enough.
        const lasting = !result.ok && result.code !== 'secret_unavailable';
        failed = lasting ? { result, until: clock() + failurePauseMs } : undefined;
        return result;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  async function readOnce(): Promise<CredentialResult> {
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
    const result = toCredential(text, options);
    known = result.ok && text !== undefined ? { text, identity: result.identity } : undefined;
    return result;
  }

  /** The promise itself is kept, so that whoever asks meanwhile waits for the same read. */
  function previousIdentity(): Promise<Credential | undefined> {
    if (clock() >= nextPrevious) {
      nextPrevious = clock() + renewalPauseMs;
      previous = readPrevious();
    }
    return previous;
  }

  async function readPrevious(): Promise<Credential | undefined> {
    try {
      const text = await source.read('previous');
      if (text === known?.text) return undefined;
      const result = toCredential(text, options);
      return result.ok ? result.identity : undefined;
    } catch {
      return undefined;
    }
  }

  async function current(): Promise<CredentialResult> {
    if (known && clock() < freshUntil) return { ok: true, identity: known.identity };
    return failed && clock() < failed.until ? failed.result : read();
  }

  function prefer(identity: Credential): void {
    preferred = { identity, until: clock() + renewalPauseMs };
  }

  return {
    current,
    async forRead() {
      if (preferred && clock() < preferred.until) return { ok: true, identity: preferred.identity };
      const result = await current();
      // An empty secret has no stand-in: emptying it is how an operator shuts the gateway.
      if (result.ok || result.code !== 'secret_invalid') return result;
      const identity = await previousIdentity();
      if (!identity) return result;
      prefer(identity);
      return { ok: true, identity };
    },
    async renew(refused) {
      if (preferred?.identity === refused) preferred = undefined;
      if (known?.identity === refused || reading) {
        if (!reading) {
          if (clock() < nextRenewal) return undefined;
          nextRenewal = clock() + renewalPauseMs;
        }
        await read();
      }
      return known?.identity === refused ? undefined : known?.identity;
    },
    async fallback(refused) {
      const identity = await previousIdentity();
      return identity === refused ? undefined : identity;
    },
    fallbackTried(identity, accepted) {
      if (accepted) prefer(identity);
      else previous = Promise.resolve(undefined);
    },
  };
}
