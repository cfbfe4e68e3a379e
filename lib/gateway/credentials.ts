/**
 * The app key and secret: read from the secret source, cached for a while, and read again once, not in a
 * storm, when the upstream refuses a signature. Reads use the secret's previous version while the current one
 * is malformed or refused, as it is when an operator has just set a wrong or not yet active one.
 */

import { steadyClock } from '../kernel/age.ts';
import { type Credential, type CredentialResult, type SigningPorts, toCredential } from './credential.ts';

export type { Credential, CredentialResult } from './credential.ts';

/** Port to the place where the secret is stored. */
export interface SecretSource {
  /**
   * The secret's text, `{"app_key": "…", "app_secret": "…"}` with an optional `access_token`; undefined or
   * empty when none is set. Rejects when the source cannot be read. A source without versions may return the
   * same text for both versions: equal texts are tried once.
   */
  read(version?: SecretVersion): Promise<string | undefined>;
}

/** `current` when absent; `previous` is the version before the current one. */
export type SecretVersion = 'current' | 'previous';

export interface Credentials {
  /** The credential for requests with a side effect. */
  current(): Promise<CredentialResult>;
  /** The credential for reads: `current()`, or the previous secret's while the current secret is malformed or refused. */
  forRead(): Promise<CredentialResult>;
  /**
   * Called with the credential that the upstream refused; returns a newer one if there is one. Reads the source
   * at most once per `renewalPauseMs`, however many requests are refused.
   */
  renew(refused: Credential): Promise<Credential | undefined>;
  /** The previous secret's credential, for a read when `renew` returned none; read at most once per `renewalPauseMs`. */
  fallback(refused: Credential): Promise<Credential | undefined>;
  /**
   * Records whether the upstream accepted the fallback. For `renewalPauseMs`, all reads use an accepted one and none
   * tries a refused one again, so that a wrong current secret does not double every read at the upstream.
   */
  fallbackTried(credential: Credential, accepted: boolean): void;
}

interface CredentialsOptions extends SigningPorts {
  readonly source: SecretSource;
  /** How long a secret is used before the source is read again. Default 5 minutes. */
  readonly timeToLiveMs?: number | undefined;
  /** Shortest time between two renewals, and the pause after a failed read while a secret is cached. Default 10 seconds. */
  readonly renewalPauseMs?: number;
}

/** Pause after a read that found no usable secret: short, because an operator is probably about to set one. */
const failurePauseMs = 1000;

const never = Number.NEGATIVE_INFINITY;

interface CachedSecret {
  readonly text: string;
  readonly credential: Credential;
}

export const createCredentials = (options: CredentialsOptions): Credentials => new SecretCredentials(options);

class SecretCredentials implements Credentials {
  readonly #options: CredentialsOptions;
  readonly #clock: () => number;
  readonly #timeToLiveMs: number;
  readonly #renewalPauseMs: number;
  #cached: CachedSecret | undefined;
  #freshUntil = never;
  #nextRenewal = never;
  #reading: Promise<CredentialResult> | undefined;
  #failed: { readonly result: CredentialResult; readonly until: number } | undefined;
  #previous: Promise<Credential | undefined> = Promise.resolve(undefined);
  #nextPrevious = never;
  /** The fallback that the upstream accepted. */
  #preferred: { readonly credential: Credential; readonly until: number } | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#clock = steadyClock(options.clock);
    this.#timeToLiveMs = options.timeToLiveMs ?? 300_000;
    this.#renewalPauseMs = options.renewalPauseMs ?? 10_000;
  }

  async current(): Promise<CredentialResult> {
    const now = this.#clock();
    if (this.#cached && now < this.#freshUntil) return { ok: true, credential: this.#cached.credential };
    return this.#failed && now < this.#failed.until ? this.#failed.result : this.#read();
  }

  async forRead(): Promise<CredentialResult> {
    const preferred = this.#preferred;
    if (preferred && this.#clock() < preferred.until) return { ok: true, credential: preferred.credential };
    const result = await this.current();
    // An empty secret has no fallback: an operator empties it to shut the gateway.
    if (result.ok || result.code !== 'secret_invalid') return result;
    const credential = await this.#previousCredential();
    if (!credential) return result;
    this.#prefer(credential);
    return { ok: true, credential };
  }

  async renew(refused: Credential): Promise<Credential | undefined> {
    if (this.#preferred?.credential === refused) this.#preferred = undefined;
    if (this.#cached?.credential === refused || this.#reading) {
      if (!this.#reading) {
        const now = this.#clock();
        if (now < this.#nextRenewal) return undefined;
        this.#nextRenewal = now + this.#renewalPauseMs;
      }
      await this.#read();
    }
    return this.#cached?.credential === refused ? undefined : this.#cached?.credential;
  }

  async fallback(refused: Credential): Promise<Credential | undefined> {
    const credential = await this.#previousCredential();
    return credential === refused ? undefined : credential;
  }

  fallbackTried(credential: Credential, accepted: boolean): void {
    if (accepted) this.#prefer(credential);
    else this.#previous = Promise.resolve(undefined);
  }

  /** Shares one read of the source among concurrent callers. */
  #read(): Promise<CredentialResult> {
    this.#reading ??= this.#readOnce()
      .then((result) => {
        // An unreachable source is read again by the next request: the failed read itself was slow enough.
        const lasting = !result.ok && result.code !== 'secret_unavailable';
        this.#failed = lasting ? { result, until: this.#clock() + failurePauseMs } : undefined;
        return result;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  /** Reads the source. The last good secret stays in use while the source cannot be read. */
  async #readOnce(): Promise<CredentialResult> {
    const { source } = this.#options;
    let text: string | undefined;
    try {
      text = await source.read();
    } catch {
      if (!this.#cached) return { ok: false, code: 'secret_unavailable' };
      this.#freshUntil = this.#clock() + this.#renewalPauseMs;
      return { ok: true, credential: this.#cached.credential };
    }
    this.#freshUntil = this.#clock() + this.#timeToLiveMs;
    if (this.#cached && text === this.#cached.text) return { ok: true, credential: this.#cached.credential };
    const result = toCredential(text, this.#options);
    this.#cached = result.ok && text !== undefined ? { text, credential: result.credential } : undefined;
    return result;
  }

  /** Caches the promise itself, so that concurrent requests share one read. */
  #previousCredential(): Promise<Credential | undefined> {
    const now = this.#clock();
    if (now >= this.#nextPrevious) {
      this.#nextPrevious = now + this.#renewalPauseMs;
      this.#previous = this.#readPrevious();
    }
    return this.#previous;
  }

  async #readPrevious(): Promise<Credential | undefined> {
    try {
      const text = await this.#options.source.read('previous');
      if (text === this.#cached?.text) return undefined;
      const result = toCredential(text, this.#options);
      return result.ok ? result.credential : undefined;
    } catch {
      return undefined;
    }
  }

  #prefer(credential: Credential): void {
    this.#preferred = { credential, until: this.#clock() + this.#renewalPauseMs };
  }
}
