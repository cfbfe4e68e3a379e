/** Order and position events as they come, over connections that come and go. */

import { streamOrderEvents } from '../catalogue/live-orders.ts';
import type { Connection } from '../client/connection.ts';
import { type FollowOptions, overConnections, type Taken } from '../client/over-connections.ts';
import { toRequest } from '../client/request.ts';
import type { ServerSent } from '../client/server-sent.ts';
import { dropOldest } from '../kernel/bounded-map.ts';
import { type ParsedTradeEvent, parseTradeEvent } from './bus-events.ts';

export interface FollowEventsOptions extends FollowOptions {
  /** Where another process stopped: the last `lastId` that it saw. Without it the stream begins with what comes now. */
  readonly lastId?: string;
}

export type OrderEventUpdate = {
  /** With which to go on after this update, in another process, too. */
  readonly lastId: string | undefined;
} & (
  | { readonly kind: 'event'; readonly event: ParsedTradeEvent }
  /** A connection has begun. `missed`: it could not go on where the one before stopped, so look orders up. */
  | { readonly kind: 'connected'; readonly missed: boolean }
  /** Nothing new; `cause` is the gateway's code of what keeps events from being told. */
  | { readonly kind: 'beat'; readonly cause?: string }
  /** The gateway ends the connection, for `time`, `token_expired` or `revoked`. */
  | { readonly kind: 'end'; readonly reason: string }
  /** The connection was lost, or has ended; another one follows. */
  | { readonly kind: 'disconnected' }
);

/** Ids of yielded events that are remembered: far more than come again. */
const maxRemembered = 10_000;

/**
 * Yields each event of the caller's accounts once, and what becomes of the connection. It connects again with jitter, after
 * 12 s of silence, too, and goes on where the last connection stopped, over 24 hours. It ends when the signal aborts, or when
 * it is left.
 *
 * Another process that goes on with `lastId` may see events that this one has seen: go by `event_id` there.
 *
 * @throws RefusedError for a refusal that another connection would meet again, such as a token that was revoked
 * @throws BrokenAnswerError when the first answer is no stream
 * @example
 * const connection = viaGateway({ baseUrl: 'https://api.example.com', apiKey, token });
 * for await (const update of followOrderEvents(connection))
 *   if (update.kind === 'event' && update.event.detailType === 'OrderChanged')
 *     console.log(update.event.detail.client_order_id, update.event.detail.status);
 */
export async function* followOrderEvents(
  connection: Connection,
  { lastId: begin, ...options }: FollowEventsOptions = {},
): AsyncGenerator<OrderEventUpdate, void, undefined> {
  let lastId = begin;
  const seen = new Set<string>();
  const request = () => {
    const headers = lastId ? { headers: { 'last-event-id': lastId } } : {};
    return toRequest(streamOrderEvents, streamOrderEvents.path, {}, headers);
  };
  function isRepeated(id: string): boolean {
    if (seen.has(id)) return true;
    seen.add(id);
    dropOldest(seen, maxRemembered);
    return false;
  }
  function newsOf(name: string, data: string, isResuming: boolean): OrderEventUpdate | undefined {
    const said = JSON.parse(data) as Readonly<Record<string, unknown>>;
    if (name === 'start') return { kind: 'connected', missed: isResuming && said.resumed !== true, lastId };
    if (name === 'beat')
      return { kind: 'beat', lastId, ...(said.cause !== undefined && { cause: String(said.cause) }) };
    const event = name === 'change' ? parseTradeEvent(data) : undefined;
    return event && !isRepeated(event.detail.event_id) ? { kind: 'event', event, lastId } : undefined;
  }
  const take = ({ id, event, data }: ServerSent): Taken<OrderEventUpdate | 'nothing'> => {
    const isResuming = lastId !== undefined;
    lastId = id || lastId;
    if (event !== 'end') return { update: newsOf(event, data, isResuming) ?? 'nothing' };
    const { reason, retry_after_ms } = JSON.parse(data) as Readonly<Record<string, unknown>>;
    const update = { kind: 'end', reason: String(reason), lastId } as const;
    return { update, retryAfterMs: Number(retry_after_ms ?? 0) };
  };
  for await (const update of overConnections(streamOrderEvents, connection, request, take, options))
    if (update !== 'nothing') yield update ?? { kind: 'disconnected', lastId };
}
