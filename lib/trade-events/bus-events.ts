/**
 * Events on the bus as a consumer sees them: the contract of their `detail`, reading one, and dropping one that comes again.
 * Receivers must accept further members, because later versions may add some. The upstream's JSON stands in an event byte for
 * byte, and the parser accepts any members in it.
 */

import * as v from 'valibot';
import { described, moment } from '../catalogue/described.ts';
import { text } from '../catalogue/schemas.ts';
import type { Got } from '../client/types.ts';
import { dropOldest } from '../kernel/bounded-map.ts';
import { parseJson } from '../kernel/parse-json.ts';
import type { ReadOrder } from '../orders/order-reads.ts';

const eventId = described(
  text,
  'The same for each sight of the same change: an event that comes again, and one that a read has found.',
);
const receivedAt = described(moment, 'When the listener had it.');
const occurredAt = v.optional(described(moment, 'The upstream’s time of it, where it says one.'));
const tooLarge = v.optional(
  described(v.literal(true), 'The upstream’s JSON is larger than an event may be, and is left out.'),
);
const account = described(
  text,
  'A keyed hash of the account: the same for all its events, for rules and logs.',
);
const accountId = described(text, 'The account, in clear.');

/** An order changed, as the stream's message or a read shows it. */
const orderChanged = v.looseObject({
  event_id: eventId,
  account,
  account_id: accountId,
  client_order_id: text,
  order_id: v.optional(v.string()),
  symbol: v.optional(v.string()),
  category: v.optional(v.string()),
  side: v.optional(v.string()),
  scene: v.optional(
    described(
      v.string(),
      'What happened: FILLED (partly), FINAL_FILLED, PLACE_FAILED, MODIFY_SUCCESS, MODIFY_FAILED, CANCEL_SUCCESS, CANCEL_FAILED, or a later one.',
    ),
  ),
  status: described(v.string(), 'Of the order, as the upstream names it.'),
  filled_quantity: described(v.string(), 'In all so far, as the upstream wrote it; 0 where it says nothing.'),
  reconciled: described(
    v.boolean(),
    'True when a read has found the change: the stream did not tell of it in time.',
  ),
  occurred_at: occurredAt,
  received_at: receivedAt,
  too_large: tooLarge,
  order: described(
    v.looseObject({}),
    'The upstream’s JSON, not a byte of it changed: its message, or for a reconciled event the order as getOrder and the lists show it.',
  ),
});

/** A position changed: so far, by the settlement of an event contract. */
const positionChanged = v.looseObject({
  event_id: eventId,
  account: v.optional(account),
  account_id: v.optional(accountId),
  symbol: v.optional(v.string()),
  event_name: v.optional(v.string()),
  reconciled: described(v.literal(false), 'No read shows such a change.'),
  occurred_at: occurredAt,
  received_at: receivedAt,
  too_large: tooLarge,
  position: described(v.looseObject({}), 'The upstream’s JSON, not a byte of it changed.'),
});

/** Any other message: about options, of a later kind, or one that cannot be read. */
const tradeEventReceived = v.looseObject({
  event_id: eventId,
  account: v.optional(account),
  account_id: v.optional(accountId),
  event_type: described(v.pipe(v.number(), v.integer()), 'The upstream’s number: 1032 is of an option.'),
  reconciled: v.literal(false),
  occurred_at: occurredAt,
  received_at: receivedAt,
  too_large: tooLarge,
  payload: described(v.unknown(), 'The upstream’s JSON, or, when it is none, its text.'),
});

export const tradeEventNames = {
  order: 'OrderChanged',
  position: 'PositionChanged',
  other: 'TradeEventReceived',
} as const;

export const tradeEventSchemas = {
  [tradeEventNames.order]: orderChanged,
  [tradeEventNames.position]: positionChanged,
  [tradeEventNames.other]: tradeEventReceived,
} as const;

export type OrderChanged = Got<v.InferOutput<typeof orderChanged>>;
export type PositionChanged = Got<v.InferOutput<typeof positionChanged>>;
export type TradeEventReceived = Got<v.InferOutput<typeof tradeEventReceived>>;

/** An event of the bus; `detailType` is its kind. */
export type ParsedTradeEvent =
  | { readonly detailType: 'OrderChanged'; readonly detail: OrderChanged }
  | { readonly detailType: 'PositionChanged'; readonly detail: PositionChanged }
  | { readonly detailType: 'TradeEventReceived'; readonly detail: TradeEventReceived };

/**
 * Reads one event.
 *
 * @param input the event with its envelope, or the text of one
 * @returns undefined for an input that is none of these events
 * @example
 * const event = parseTradeEvent(input);
 * if (event?.detailType === 'OrderChanged') console.log(event.detail.client_order_id, event.detail.status);
 */
export function parseTradeEvent(input: unknown): ParsedTradeEvent | undefined {
  const event = typeof input === 'string' ? parseJson(input) : input;
  if (typeof event !== 'object' || event === null) return undefined;
  const { 'detail-type': detailType, detail } = event as Readonly<Record<string, unknown>>;
  if (typeof detailType !== 'string' || !Object.hasOwn(tradeEventSchemas, detailType)) return undefined;
  const type = detailType as keyof typeof tradeEventSchemas;
  const isOne = v.is(tradeEventSchemas[type], detail);
  return isOne ? ({ detailType: type, detail } as ParsedTradeEvent) : undefined;
}

/** The order of an `OrderChanged` event, as reads of orders show one; undefined for a detail that names none. */
export function orderInEvent(detail: unknown): ReadOrder | undefined {
  if (typeof detail !== 'object' || detail === null) return undefined;
  const { account_id, client_order_id, status, filled_quantity, order } = detail as Readonly<
    Record<string, unknown>
  >;
  if (typeof account_id !== 'string' || typeof client_order_id !== 'string') return undefined;
  const state = {
    account: account_id,
    clientOrderId: client_order_id,
    status: String(status),
    filled: String(filled_quantity ?? '0'),
  };
  // Only its texts are read, so that parsing has rounded nothing that counts.
  return { state, payload: JSON.stringify(order ?? {}) };
}

/** Port: which events a consumer has worked off. */
export interface SeenEvents {
  /** True for the first that asks for this id; a store that forgets does so after a day or later. */
  first(eventId: string): Promise<boolean>;
  /** The work on it failed: the next one is the first again. */
  forget(eventId: string): Promise<void>;
}

export interface RepetitionFilter {
  /**
   * Works an event off, unless it was worked off before.
   *
   * @returns whether `work` ran; rejects as it does, and the event is then open again
   */
  once(
    event: { readonly detail: { readonly event_id: string } },
    work: () => Promise<void>,
  ): Promise<boolean>;
}

/**
 * @param seen default: in the memory of this process, the last 10 000
 *
 * @example
 * const filter = createRepetitionFilter();
 * const event = parseTradeEvent(input);
 * if (event) await filter.once(event, async () => book(event));
 */
export function createRepetitionFilter(seen: SeenEvents = createMemorySeenEvents()): RepetitionFilter {
  return {
    async once({ detail }, work) {
      if (!(await seen.first(detail.event_id))) return false;
      try {
        await work();
      } catch (error) {
        await seen.forget(detail.event_id);
        throw error;
      }
      return true;
    },
  };
}

/**
 * @param limit so many ids are kept; the oldest go first
 *
 * @example
 * const filter = createRepetitionFilter(createMemorySeenEvents(1000));
 */
export function createMemorySeenEvents(limit = 10_000): SeenEvents {
  const ids = new Set<string>();
  return {
    async first(eventId) {
      if (ids.has(eventId)) return false;
      ids.add(eventId);
      dropOldest(ids, limit);
      return true;
    },
    async forget(eventId) {
      ids.delete(eventId);
    },
  };
}
