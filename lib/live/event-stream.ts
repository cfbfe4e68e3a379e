/** Parts of streams of both kinds: the form of their events, their end, and checks of their caller's rights. */

import { skewSeconds } from '../access/token-claims.ts';
import type { GatewayRequest } from '../gateway/http.ts';
import type { ReachNow } from '../gateway/reach.ts';
import { isExpiry } from '../gateway/who.ts';
import { isDue } from '../kernel/pauses.ts';
import { isRefusal, type Refusal } from '../problem.ts';

/**
 * Writes a server-sent event (the HTML standard, chapter 9.2). The upstream's JSON may have line breaks between its members:
 * each line needs its own `data:`.
 */
export const serverSent = (event: string, data: string): string => {
  const isOneLine = !data.includes('\n') && !data.includes('\r');
  const lines = isOneLine ? data : data.split(/\r\n|[\r\n]/).join('\ndata: ');
  return `event: ${event}\ndata: ${lines}\n\n`;
};

/** Wait between two beats. A client that receives nothing for 12 s knows that the stream is dead. */
export const beatMs = 5000;

export interface StreamTimes {
  /** Time by the gateway's clock, in milliseconds since the epoch. */
  readonly endsAt: number;
  readonly endsFor: 'time' | 'token_expired';
}

/** Longest duration of a stream; it ends earlier if the platform ends the request earlier. */
const maxMs = 900_000;
/** Time reserved between the last event of a stream and the end of its request. */
const marginMs = 5000;
/** Interval over which the ends of streams that began together are spread. */
const spreadMs = 60_000;

/** Decides when a stream ends: with its token, and before the platform ends its request. */
export function streamEnd(
  { deadline = Number.POSITIVE_INFINITY, streamDeadline = deadline, evidence }: GatewayRequest,
  now: number,
  random: () => number,
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

/** Writes the last event of a stream. */
export const endEvent = (reason: string, random: () => number, more: object = {}): string =>
  serverSent('end', JSON.stringify({ reason, retry_after_ms: Math.floor(random() * maxReturnMs), ...more }));

/** Writes the last event for a caller who has lost the right to the stream; undefined while rights cannot be read. */
export function endOfRefused(refusal: Refusal, random: () => number): string | undefined {
  const { code } = refusal;
  if (code === 'access_unavailable') return undefined;
  return endEvent(isExpiry(refusal) ? 'token_expired' : 'revoked', random, { code });
}

/** Wait between two checks of a caller's rights; the next text triggers a due check, at most a beat later. */
const checkEveryMs = 4000;

/** Passes texts on as long as their caller has the right to them. */
export async function* whileReached(
  texts: AsyncIterable<string>,
  reachNow: ReachNow,
  { clock, random }: { readonly clock: () => number; readonly random: () => number },
): AsyncGenerator<string, void> {
  let checkAt = clock() + checkEveryMs;
  for await (const text of texts) {
    if (isDue(clock(), checkAt, checkEveryMs)) {
      checkAt = clock() + checkEveryMs;
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
