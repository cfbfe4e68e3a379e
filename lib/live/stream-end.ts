/** When a stream ends, and why: before the platform ends its request, and with its token. */

import { skewSeconds } from '../access/token-claims.ts';
import type { GatewayRequest } from '../gateway/http.ts';
import type { ReachNow } from '../gateway/reach.ts';
import { isExpiry } from '../gateway/who.ts';
import { isDue } from '../kernel/pauses.ts';
import { isRefusal, type Refusal } from '../problem.ts';
import { serverSent } from './server-sent.ts';

export interface StreamTimes {
  /** By the gateway's clock. */
  readonly endsAt: number;
  readonly endsFor: 'time' | 'token_expired';
}

/** From the last word of a stream to the end of the request. */
const marginMs = 5000;
/** Streams that began together end within this time. */
const spreadMs = 60_000;

/** @param maxMs a stream is open for so long at most */
export function streamEnd(
  { deadline = Number.POSITIVE_INFINITY, streamDeadline = deadline, evidence }: GatewayRequest,
  now: number,
  { maxMs = 900_000, random = Math.random }: { readonly maxMs?: number; readonly random?: () => number },
): StreamTimes {
  const latest = Math.min(streamDeadline, now + maxMs) - marginMs;
  // For as long as a request with the token is accepted: before that the client would come back with the same one.
  const { expiresAt = Number.POSITIVE_INFINITY } = evidence?.claims ?? {};
  const tokenEndsAt = (expiresAt + skewSeconds) * 1000;
  const endsAt = Math.min(tokenEndsAt, latest - Math.min(spreadMs, (latest - now) / 10) * random());
  return { endsAt, endsFor: endsAt === tokenEndsAt ? 'token_expired' : 'time' };
}

/** Clients whose streams ended together come back apart. */
const maxReturnMs = 1000;

/** The data of the last event. */
export const endData = (reason: string, random: () => number): Readonly<Record<string, unknown>> => ({
  reason,
  retry_after_ms: Math.floor(random() * maxReturnMs),
});

/** The last event for a caller who may not have the stream any more; undefined while the gateway cannot read that. */
export function endOfRefused(refusal: Refusal, random: () => number): string | undefined {
  if (refusal.code === 'access_unavailable') return undefined;
  const reason = isExpiry(refusal) ? 'token_expired' : 'revoked';
  return serverSent('end', JSON.stringify({ ...endData(reason, random), code: refusal.code }));
}

/** Between two looks at what a caller may have; one comes with the first text after that, at most a beat later. */
const lookMs = 4000;

/** The texts as long as their caller may have them. */
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

/** What a caller is told that has as many streams as one may have. */
export const tooManyStreams = {
  code: 'throttled',
  detail: 'This caller has as many streams as one may have here: end one, or wait until one has ended.',
  retryAfterSeconds: 5,
} as const;

/**
 * Calls `over` when the texts have ended, or nobody takes them any more, and ends itself after it: a function stands still
 * once its answer has ended.
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
