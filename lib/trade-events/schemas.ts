/**
 * The contract: the `detail` of each event on the bus. Open, because later versions may add members. What the upstream
 * wrote stands in it byte for byte, and refuses nothing.
 */

import * as v from 'valibot';
import { described, moment } from '../catalogue/described.ts';
import { text } from '../catalogue/schemas.ts';

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

/** Of an order: the stream's message, or what a read has found. */
export const orderChanged = v.looseObject({
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

/** Of a position: so far, the settlement of an event contract. */
export const positionChanged = v.looseObject({
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

/** Any other message: of options, of a later kind, or one that cannot be read. */
export const tradeEventReceived = v.looseObject({
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
