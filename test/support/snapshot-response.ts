/** An outcome of the snapshot cache as the HTTP answer that the gateway makes of it. */

import { readCacheDirectives } from '../../lib/cache/headers.ts';
import type { ServedSnapshot, SnapshotOutcome } from '../../lib/cache/snapshots/index.ts';
import { refusalResponse, renderSnapshots } from '../../lib/gateway/render.ts';
import { partialRefusal, snapshotsFound } from '../../lib/gateway/snapshots/by-account.ts';

export const cacheDirectivesOf = (headers: Readonly<Record<string, string>>) =>
  readCacheDirectives(headers['cache-control']);

export const snapshotResponse = (
  outcome: Extract<SnapshotOutcome, { kind: 'snapshots' }>,
  headers: Readonly<Record<string, string>>,
) => renderSnapshots(snapshotsFound(outcome, Date.now()), { method: 'GET', headers, requestId: 'request-1' });

/** The members, without braces, of the problem that a partial result becomes. */
export function partialResultMembers(
  found: { readonly cached: readonly ServedSnapshot[]; readonly missing: readonly string[] },
  now: number,
): string {
  const outcome = { kind: 'unavailable', ...found, retryAfterMs: 1000, isOverQuota: false } as const;
  const { body } = refusalResponse(partialRefusal(outcome, { now }), 'request-1', 'application/problem+json');
  return new TextDecoder().decode(body).slice(1, -1);
}
