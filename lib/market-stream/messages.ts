/**
 * A message of the market stream as the members of a snapshot record that it carries. Reading one never throws: the
 * caller drops what the upstream sends that is no message.
 */

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** The subject of a message: trades, or the book. */
export type StreamedPart = 'trade' | 'book';

type MarketMessage =
  | {
      readonly kind: 'values';
      readonly symbol: string;
      /** Texts as the upstream wrote them, by the names that a snapshot record has. */
      readonly members: Readonly<Record<string, string>>;
      /** When the upstream sent it, in milliseconds since the epoch. */
      readonly sentAt: number;
    }
  /**
   * Something changed, and the message does not say to what: a snapshot of its symbol alone, or a state of the book that
   * lacks a side or does not say of when it is.
   */
  | { readonly kind: 'torn'; readonly symbol: string; readonly part: StreamedPart }
  | { readonly kind: 'notice'; readonly type: string; readonly content: string }
  /** A sign of life, and nothing else; also of topics that are not used or not known. */
  | { readonly kind: 'sign' }
  | { readonly kind: 'invalid'; readonly topic: string; readonly reason: string };

/** The fields of a snapshot after the first, by number. */
const snapshotMembers: Readonly<Record<number, string>> = Object.fromEntries(
  [
    ['last_trade_time', 'price', 'open', 'high', 'low', 'pre_close', 'volume', 'change', 'change_ratio'],
    ['last_trade_time', 'last_price', 'high', 'low', 'volume', 'change', 'change_ratio'].map(
      (name) => `extend_hour_${name}`,
    ),
    ['last_trade_time', 'price', 'high', 'low', 'volume', 'change', 'change_ratio'].map(
      (name) => `ovn_${name}`,
    ),
  ]
    .flat()
    .map((name, index) => [index + 2, name]),
);

/** Far above any message, and a tenth of what one could be. */
const maxBytes = 64 * 1024;
const symbolForm = /^[\x21-\x7e]{1,32}$/;
const momentForm = /^\d{1,15}$/;
const decimalForm = /^[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,2})?$/;
/** A moment further ahead would stay the newest for ever. */
const maxAheadMs = 60_000;

/**
 * @param now in milliseconds since the epoch: a message that claims to be later is invalid
 *
 * @example
 * const message = readMessage('snapshot', payload, Date.now());
 * if (message.kind === 'values') console.log(message.symbol, message.members.price);
 */
export function readMessage(topic: string, payload: Uint8Array, now: number): MarketMessage {
  if (topic !== 'snapshot' && topic !== 'quote' && topic !== 'notice') return { kind: 'sign' };
  try {
    if (payload.length > maxBytes) throw new RangeError('too large');
    return topic === 'notice' ? readNotice(payload) : readValues(topic, payload, now);
  } catch (error) {
    return { kind: 'invalid', topic, reason: error instanceof Error ? error.message : 'not readable' };
  }
}

function readNotice(payload: Uint8Array): MarketMessage {
  const { type, content } = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
  return { kind: 'notice', type: String(type), content: String(content ?? '').slice(0, 200) };
}

function readValues(topic: 'snapshot' | 'quote', payload: Uint8Array, now: number): MarketMessage {
  const fields = fieldsOf(payload);
  const basic = fieldsOf(last(fields, 1) ?? new Uint8Array());
  const symbol = text(last(basic, 1));
  const timestamp = text(last(basic, 3));
  if (!symbolForm.test(symbol)) throw new RangeError('no symbol');
  if (timestamp !== '') checked('timestamp', timestamp, momentForm);
  const members: Record<string, string> = {};
  if (topic === 'quote') {
    Object.assign(members, bookOf(fields));
    if (timestamp === '' || members.ask === undefined || members.bid === undefined)
      return { kind: 'torn', symbol, part: 'book' };
    members.quote_time = timestamp;
  } else
    for (const [number, name] of Object.entries(snapshotMembers)) {
      const value = text(last(fields, Number(number)));
      if (value !== '')
        members[name] = checked(name, value, name.endsWith('_time') ? momentForm : decimalForm);
    }
  if (Object.keys(members).length === 0) return { kind: 'torn', symbol, part: 'trade' };
  for (const [name, value] of Object.entries(members))
    if (name.endsWith('_time') && Number(value) > now + maxAheadMs) throw new RangeError(`${name} is ahead`);
  return { kind: 'values', symbol, members, sentAt: Number(timestamp) };
}

/** The best of either side, which is the first. */
function bookOf(fields: Fields): Record<string, string> {
  const members: Record<string, string> = {};
  for (const [field, name] of [
    [2, 'ask'],
    [3, 'bid'],
  ] as const) {
    const best = fields.get(field)?.[0];
    if (!best) continue;
    const side = fieldsOf(best);
    members[name] = checked(name, text(last(side, 1)), decimalForm);
    members[`${name}_size`] = checked(name, text(last(side, 2)), decimalForm);
  }
  return members;
}

function checked(name: string, value: string, form: RegExp): string {
  if (!form.test(value)) throw new RangeError(`${name} has no valid value`);
  return value;
}

type Fields = ReadonlyMap<number, readonly Uint8Array[]>;

/** The fields of a message that have a length, as all known ones have; others are skipped. */
function fieldsOf(bytes: Uint8Array): Fields {
  const fields = new Map<number, Uint8Array[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, field);
    else fields.set(field, [...(fields.get(field) ?? []), reader.bytes()]);
  }
  return fields;
}

const last = (fields: Fields, field: number): Uint8Array | undefined => fields.get(field)?.at(-1);

/** Made at the first message, because loading the library touches no global of a runtime. */
let decoder: TextDecoder | undefined;

function text(bytes: Uint8Array | undefined): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true });
  return bytes ? decoder.decode(bytes) : '';
}
