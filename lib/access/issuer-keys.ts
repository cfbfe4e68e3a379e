/** Cache of an issuer's public keys in one instance. */

import { importJWK } from 'jose/key/import';
import { type After, afterTimeout, endOf } from '../kernel/pauses.ts';
import type { WebCryptoKey } from '../kernel/sealer.ts';
import { isPrivate } from '../signer/request.ts';
import type { SignatureAlgorithm } from './auth-settings.ts';
import { issuerFailure, type ReadText } from './read-text.ts';

interface IssuerKeys {
  /**
   * Finds the keys that may have made a signature: the keys with the key id or, for a token without one, the algorithm's
   * key if there is only one. Never rejects.
   */
  find(keyId: string | undefined, algorithm: SignatureAlgorithm): Promise<FoundKeys>;
}

type FoundKeys =
  | { readonly ok: true; readonly keys: readonly WebCryptoKey[] }
  | { readonly ok: false; readonly fault: 'unknown_key' | 'issuer_unavailable' };

interface IssuerKeysOptions {
  readonly issuer: string;
  readonly jwksUri?: string | undefined;
  readonly readText: ReadText;
  readonly clock: () => number;
  /** Called with the error when a reading failed. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Reads the keys at once, so that the first token need not wait for them. */
  readonly readAhead?: boolean;
  readonly after?: After;
}

/** Wait between two readings, however many tokens come: an attacker can write a new key id into each. */
const betweenReadsMs = 30_000;
/** Shorter wait while no key is known, because then every request waits for one. */
const betweenFirstReadsMs = 5_000;
/** Age from which keys are read again beside the request, which does not wait. */
const refreshAfterMs = 15 * 60_000;
/**
 * Age from which a request waits for new keys, so that a key that the issuer has removed is accepted for half an hour at
 * most, and because a platform may stop work that goes on beside its requests.
 */
const waitAfterMs = 30 * 60_000;
/** While the issuer does not answer, one request in this time waits; the others use the known keys. */
const betweenWaitsMs = 5 * 60_000;
/** Age from which known keys are no longer used although the issuer does not answer. */
const unusableAfterMs = 24 * 3_600_000;
/** Time limit of each request to the issuer; a reading sends two at most. */
const timeoutMs = 3_000;
const maxBytes = 256 * 1024;
const maxKeys = 64;

interface KnownKeys {
  readonly keys: readonly Jwk[];
  readonly readAt: number;
}

interface KeysReading {
  readonly startedAt: number;
  readonly done: Promise<void>;
  readonly isOver: boolean;
}

export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, jwksUri, readText, clock, onFailure, after = afterTimeout } = options;
  let known: KnownKeys | undefined;
  let reading: KeysReading | undefined;
  let waitedAt = Number.NEGATIVE_INFINITY;
  let failed = false;

  async function read(startedAt: number): Promise<void> {
    try {
      const uri = jwksUri ?? (await discoverJwksUri(issuer, readText));
      const keys = keysIn(await readText(uri, { timeoutMs, maxBytes }));
      if (!known || startedAt >= known.readAt) known = { keys, readAt: startedAt };
      failed = false;
    } catch (error) {
      failed = true;
      onFailure?.(error);
    }
  }

  function begin(startedAt: number): KeysReading {
    const begun = { startedAt, isOver: false, done: Promise.resolve() };
    begun.done = read(startedAt).finally(() => {
      begun.isOver = true;
    });
    return begun;
  }

  /** Reads the keys (single flight), unless the last reading is too recent. */
  async function refresh(now: number): Promise<void> {
    const sinceLast = reading ? Math.abs(now - reading.startedAt) : Number.POSITIVE_INFINITY;
    if (!reading || sinceLast >= (known ? betweenReadsMs : betweenFirstReadsMs)) reading = begin(now);
    // A reading that another request began may never end: a platform stops or freezes work that outlives its request.
    if (!reading.isOver) await endOf(reading.done, 2 * timeoutMs, after);
  }

  if (options.readAhead) void refresh(clock());

  return {
    async find(keyId, algorithm) {
      const now = clock();
      const age = known ? now - known.readAt : Number.POSITIVE_INFINITY;
      if (age >= refreshAfterMs) {
        const refreshed = refresh(now);
        if (age >= waitAfterMs && now - waitedAt >= betweenWaitsMs) {
          waitedAt = now;
          await refreshed;
        }
      }
      let keys = await candidates(known, keyId, algorithm);
      if (keys.length === 0) {
        await refresh(now);
        keys = await candidates(known, keyId, algorithm);
      }
      if (!known || now - known.readAt >= unusableAfterMs) return { ok: false, fault: 'issuer_unavailable' };
      if (keys.length > 0) return { ok: true, keys };
      return { ok: false, fault: failed ? 'issuer_unavailable' : 'unknown_key' };
    },
  };
}

async function candidates(
  known: KnownKeys | undefined,
  keyId: string | undefined,
  algorithm: SignatureAlgorithm,
): Promise<readonly WebCryptoKey[]> {
  const all = known?.keys.filter((key) => key.algorithms.includes(algorithm)) ?? [];
  const some = keyId === undefined ? (all.length === 1 ? all : []) : all.filter(({ id }) => id === keyId);
  const imported = await Promise.all(some.map((key) => key.importFor(algorithm)));
  return imported.flatMap((key) => key ?? []);
}

async function discoverJwksUri(issuer: string, readText: ReadText): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri: uri } = JSON.parse(await readText(url, { timeoutMs, maxBytes }));
  if (named !== issuer) throw issuerFailure('other_issuer');
  const { protocol } = new URL(uri);
  if (protocol !== 'https:' && !(issuer.startsWith('http:') && isPrivate(new URL(uri))))
    throw issuerFailure('keys_not_https');
  return uri;
}

interface Jwk {
  readonly id: unknown;
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Resolves with undefined when the key is invalid. */
  importFor(algorithm: SignatureAlgorithm): Promise<WebCryptoKey | undefined>;
}

/** @throws for a text that is no set of keys, or has no usable key: an issuer without a key has made a mistake */
function keysIn(text: string): readonly Jwk[] {
  const { keys } = JSON.parse(text) as { readonly keys: readonly unknown[] };
  const usable = keys.flatMap((key) => usableKey(key) ?? []).slice(0, maxKeys);
  if (usable.length === 0) throw issuerFailure('no_keys');
  return usable;
}

function usableKey(key: unknown): Jwk | undefined {
  const jwk = (key ?? {}) as Readonly<Record<string, unknown>>;
  const { use, key_ops: uses, kid, alg } = jwk;
  if (use !== undefined && use !== 'sig') return undefined;
  if (uses !== undefined && !(Array.isArray(uses) && uses.includes('verify'))) return undefined;
  const algorithms = algorithmsOf(jwk).filter((one) => alg === undefined || alg === one || isEdwards(alg));
  if (algorithms.length === 0) return undefined;
  const { kty, n, e, crv, x, y } = jwk;
  const imported = new Map<SignatureAlgorithm, Promise<WebCryptoKey | undefined>>();
  return {
    id: kid,
    algorithms,
    importFor(algorithm) {
      const known = imported.get(algorithm);
      if (known) return known;
      // Imports the public part alone, so that a private key, published by mistake, is not in memory.
      const importing = importJWK(
        { kty, n, e, crv, x, y } as Parameters<typeof importJWK>[0],
        algorithm,
      ).then(
        (key) => (key instanceof Uint8Array ? undefined : (key as WebCryptoKey)),
        () => undefined,
      );
      imported.set(algorithm, importing);
      return importing;
    },
  };
}

const isEdwards = (alg: unknown) => alg === 'EdDSA' || alg === 'Ed25519';

function algorithmsOf({ kty, crv, n }: Readonly<Record<string, unknown>>): readonly SignatureAlgorithm[] {
  // Lengths in base64url of 2048 to 8192 bits: shorter keys are weak, and longer ones take long to verify with.
  if (kty === 'RSA' && typeof n === 'string' && n.length >= 342 && n.length <= 1366)
    return ['RS256', 'PS256'];
  if (kty === 'EC' && crv === 'P-256') return ['ES256'];
  if (kty === 'OKP' && crv === 'Ed25519') return ['EdDSA', 'Ed25519'];
  return [];
}
