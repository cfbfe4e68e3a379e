/** Creates the events of the bus. The upstream's JSON goes into their detail byte for byte: parsing would round numbers. */

import type { KeyedNames } from '../access/directory.ts';
import { textMembers } from '../kernel/json-members.ts';
import type { ReadOrder } from '../orders/order-reads.ts';
import { tradeEventNames } from './bus-events.ts';
import type { TradeEvent } from './ports.ts';

/** Times of a change by the listener's clock, and by the upstream's where it shows one. */
interface Occasion {
  readonly receivedAt: number;
  readonly occurredAt: number | undefined;
}

interface OrderEventSource extends ReadOrder, Occasion {
  readonly scene: string | undefined;
  readonly reconciled: boolean;
}

/** Members that are copied out of the upstream's JSON. */
const copiedMembers = ['order_id', 'symbol', 'category', 'side'] as const;

/** @param id the texts that make the event's id */
export async function orderEvent(
  names: KeyedNames,
  id: readonly string[],
  { state, scene, reconciled, payload, ...occasion }: OrderEventSource,
): Promise<TradeEvent> {
  const [eventId, accountName] = await Promise.all([
    names.nameOf('event', ...id),
    names.nameOf('account', state.account),
  ]);
  const shown = textMembers(payload, [...copiedMembers, 'filled_qty', 'filled_quantity']);
  const copied = copiedMembers.map((name) => [name, shown?.get(name)] as const);
  const envelope = {
    event_id: eventId,
    account: accountName,
    account_id: state.account,
    client_order_id: state.clientOrderId,
    ...Object.fromEntries(copied.filter(([, value]) => value !== undefined)),
    ...(scene && { scene }),
    status: state.status,
    filled_quantity: shown?.get('filled_qty') ?? shown?.get('filled_quantity') ?? '0',
    reconciled,
    ...timesOf(occasion),
  };
  return {
    id: eventId,
    detailType: tradeEventNames.order,
    detail: withPart(envelope, 'order', payload),
  };
}

interface OtherEventSource extends Occasion {
  readonly eventType: number;
  readonly isPosition: boolean;
  /** Undefined where the message does not name it and the stream has several. */
  readonly account: string | undefined;
  /** The upstream's request id, or another text that only this message has. */
  readonly requestId: string;
  readonly payload: string;
}

/** Event for a message that is not about an order, or cannot be read as one. */
export async function otherEvent(names: KeyedNames, source: OtherEventSource): Promise<TradeEvent> {
  const { account, eventType, requestId, payload } = source;
  const shown = textMembers(payload, ['symbol', 'event_name']);
  const isPosition = source.isPosition && shown !== undefined;
  const [eventId, accountName] = await Promise.all([
    names.nameOf('event', 'message', `${eventType}`, account ?? '', requestId),
    account === undefined ? undefined : names.nameOf('account', account),
  ]);
  const envelope = {
    event_id: eventId,
    ...(account !== undefined && { account: accountName, account_id: account }),
    ...(isPosition && shown && Object.fromEntries(shown)),
    ...(!isPosition && { event_type: eventType }),
    reconciled: false,
    ...timesOf(source),
  };
  const part = shown ? payload : JSON.stringify(payload);
  return isPosition
    ? { id: eventId, detailType: tradeEventNames.position, detail: withPart(envelope, 'position', part) }
    : { id: eventId, detailType: tradeEventNames.other, detail: withPart(envelope, 'payload', part) };
}

/** A bus accepts 256 kB, including members of its own. */
const maxDetailBytes = 240 * 1024;

/** Leaves out JSON that is too large for any bus, where it would wait for ever: a consumer looks the order up instead. */
function withPart(envelope: object, name: string, json: string): string {
  const whole = `${JSON.stringify(envelope).slice(0, -1)},"${name}":${json}}`;
  return new TextEncoder().encode(whole).length <= maxDetailBytes
    ? whole
    : JSON.stringify({ ...envelope, too_large: true, [name]: {} });
}

function timesOf({ receivedAt, occurredAt }: Occasion): object {
  const occurred = occurredAt === undefined ? undefined : isoOf(occurredAt);
  return { ...(occurred && { occurred_at: occurred }), received_at: isoOf(receivedAt) };
}

/** Undefined for a time that has no year of four digits. */
function isoOf(time: number): string | undefined {
  const text = new Date(time).toJSON();
  return /^\d{4}-/.test(text ?? '') ? text : undefined;
}
