/** Decides when a stream ends, and why: with its token, and before the platform ends its request. */

import { skewSeconds } from '../access/token-claims.ts';
import type { GatewayRequest } from '../gateway/http.ts';
import type { ReachNow } from '../gateway/reach.ts';
import { isExpiry } from '../gateway/who.ts';
import { isDue } from '../kernel/pauses.ts';
import { isRefusal, type Refusal } from '../problem.ts';
import { serverSent } from './server-sent.ts';

export interface StreamTimes {
  /** By the gateway's clock, in milliseconds since the epoch. */
  readonly endsAt: number;
  readonly endsFor: 'time' | 'token_expired';
}

/** Time reserved between the last event of a stream and the end of its request. */
const marginMs = 5000;
/** Interval over which the ends of streams that began together are spread. */
const spreadMs = 60_000;

/** @param maxMs longest duration of a stream */
export function streamEnd(
  { deadline = Number.POSITIVE_INFINITY, streamDeadline = deadline, evidence }: GatewayRequest,
  now: number,
  { maxMs = 900_000, random = Math.random }: { readonly maxMs?: number; readonly random?: () => number },
): StreamTimes {
  const latest = Math.min(streamDeadline, now + maxMs) - marginMs;
  // The stream lives as long as the token is accepted: if it ended earlier, the client would come back with the same token.
  const { expiresAt = Number.POSITIVE_INFINITY } = evidence?.claims ?? {};
  const tokenEndsAt = (expiresAt + skewSeconds) * 1000;
  const endsAt = Math.min(tokenEndsAt, latest - Math.min(spreadMs, (latest - now) / 10) * random());
  return { endsAt, endsFor: endsAt === tokenEndsAt ? 'token_expired' : 'time' };
}

/** Longest random wait before a client connects again, so that clients whose streams ended together come back apart. */
const maxReturnMs = 1000;

/** Data of the last event. */
export const endData = (reason: string, random: () => number): Readonly<Record<string, unknown>> => ({
  reason,
  retry_after_ms: Math.floor(random() * maxReturnMs),
});

/** Writes the last event for a caller who has lost the right to the stream; undefined while rights cannot be read. */
export function endOfRefused(refusal: Refusal, random: () => number): string | undefined {
  if (refusal.code === 'access_unavailable') return undefined;
  const reason = isExpiry(refusal) ? 'token_expired' : 'revoked';
  return serverSent('end', JSON.stringify({ ...endData(reason, random), code: refusal.code }));
}

/** Wait between two checks of a caller's rights; the next text triggers a due check, at most a beat later. */
const lookMs = 4000;

/** Passes texts on as long as their caller has the right to them. */
export async function* whileReached(
  texts: AsyncIterable<string>,
  reachNow: ReachNow,
  { clock, random }: { readonly clock: () => number; readonly random: () => number },
): AsyncGenerator<string, void> {
  let lookAt = clock() + lookMs;
  for await (const text of texts) {
    if (isDue(clock(), lookAt, lookMs)) {
      lookAt = clock() + lookMs;
      const reach = await reachNow();
      const end = isRefusal(reach) && endOfRefused(reach, random);
      if (end) {
        yield end;
        return;
      }
    }
    yield text;
  }
}

/** Refusal for a caller who has the largest number of streams. */
export const tooManyStreams = {
  code: 'throttled',
  detail: 'This caller has as many streams as one may have here: end one, or wait until one has ended.',
  retryAfterSeconds: 5,
} as const;

/**
 * Calls `over` when the texts have ended or nobody reads them any more, and waits for it: a function is frozen once its
 * answer has ended.
 */
export async function* whenOver(
  texts: AsyncIterable<string>,
  over: () => Promise<void>,
): AsyncGenerator<string, void> {
  try {
    yield* texts;
  } finally {
    await over();
  }
}
