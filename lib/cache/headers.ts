/** The headers of a cache: RFC 9111 (Cache-Control, Age), 9110 (ETag), 9211 (Cache-Status). */

/** The directives of a request that have an effect here; RFC 9111 allows a cache to ignore the others. */
interface CacheDirectives {
  /** The client wants nothing older, in milliseconds; 0 for `no-cache`. */
  readonly maxAgeMs?: number | undefined;
  /** The client accepts a response that is stale by so much, in milliseconds. */
  readonly maxStaleMs?: number | undefined;
  /** The client wants a cached response, or none. */
  readonly onlyIfCached?: true;
}

const second = 1000;
/** The texts between unquoted commas. */
const directives = /(?:[^,"]|"[^"]*")+/g;

/** @param header `cache-control` of a request; a malformed directive has no effect */
export function readCacheDirectives(header: string | undefined): CacheDirectives {
  let maxAgeMs: number | undefined;
  let maxStaleMs: number | undefined;
  let onlyIfCached = false;
  for (const directive of (header ?? '').toLowerCase().match(directives) ?? []) {
    const [name = '', value] = directive.trim().split('=', 2);
    const seconds = /^"?(\d{1,9})"?$/.exec(value ?? '')?.[1];
    if (name === 'no-cache') maxAgeMs = 0;
    else if (name === 'max-age' && seconds !== undefined)
      maxAgeMs = Math.min(maxAgeMs ?? Number.POSITIVE_INFINITY, Number(seconds) * second);
    else if (name === 'max-stale' && (value === undefined || seconds !== undefined))
      maxStaleMs = Number(seconds ?? 999_999_999) * second;
    else if (name === 'only-if-cached') onlyIfCached = true;
  }
  return {
    ...(maxAgeMs !== undefined && { maxAgeMs }),
    ...(maxStaleMs !== undefined && { maxStaleMs }),
    ...(onlyIfCached && { onlyIfCached: true as const }),
  };
}

/** Whole seconds, rounded up: nothing in the answer is older. */
export const ageHeader = (ageMs: number): string => String(Math.ceil(Math.max(0, ageMs) / second));

/** Weak, because compression on the way may change the bytes but not their meaning. */
export const weakTag = (hash: number | string): string => `W/"${hash.toString(36)}"`;

/** Whether `if-none-match` contains the tag, by the weak comparison that RFC 9110 demands for it. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (!header) return false;
  if (header.trim() === '*') return true;
  const opaque = (one: string) => one.trim().replace(/^W\//, '');
  return header.split(',').some((one) => opaque(one) === opaque(tag));
}

/** Why the cache asked the upstream. */
type Forward = 'uri-miss' | 'miss' | 'stale' | 'request';

interface CacheFacts {
  /** Absent for a hit. */
  readonly fwd?: Forward;
  /** Another request fetched it, and this one shared the result. */
  readonly collapsed?: boolean;
  /** How long the answer stays fresh, in milliseconds; below zero when it is stale. */
  readonly ttlMs: number;
  readonly detail?: string;
}

/** For example `countersign; hit; ttl=4`. */
export function cacheStatus({ fwd, collapsed, ttlMs, detail }: CacheFacts): string {
  return [
    'countersign',
    fwd ? `fwd=${fwd}` : 'hit',
    ...(fwd && collapsed ? ['collapsed'] : []),
    `ttl=${Math.floor(ttlMs / second)}`,
    ...(detail ? [`detail=${detail}`] : []),
  ].join('; ');
}
