/** What goes wrong on the market-data stream, for tests to bring about on purpose. */

import { encodeMembers } from './messages.ts';

/** It happens at once to every session that is open, or to the one that is named; where it says so, to those that come. */
export type MarketStreamFault = { readonly session?: string } & (
  | /** Data stops, and all else goes on: until the session subscribes again, or for good. */
  { readonly kind: 'mute'; readonly until?: 'subscribe' | 'never' }
  /** Nothing comes any more, no answer to a ping either, and the connection stays up. */
  | { readonly kind: 'freeze' }
  /** The session is not known over HTTP any more, and gets no data, while its connection stays up. Its id never works again. */
  | { readonly kind: 'forget' }
  /** Another client has connected with the session's id: the connection ends, and does not count. */
  | { readonly kind: 'take-over' }
  /** The connection ends without a word. */
  | { readonly kind: 'drop' }
  /** A WebSocket ends with a frame whose text stands where the code belongs; other connections just end. */
  | { readonly kind: 'bye-bye' }
  /** A notice that another session took the right to a category's data. Data goes on. */
  | { readonly kind: 'grabbed'; readonly category?: string }
  /** From now on a session id is not known over HTTP for so long after its first connection, in milliseconds; 0 ends it. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The next so many connections (default 1) are refused with a code, however right they are. */
  | { readonly kind: 'refuse'; readonly code: number; readonly times?: number }
  /** Later messages are sent so; neither quality 1 nor retained messages were seen. */
  | { readonly kind: 'deliver'; readonly qos: 0 | 1; readonly retain: boolean }
  /** A message that no client expects. */
  | { readonly kind: 'send'; readonly what: OddMessage }
);

export type OddMessage =
  | 'not-protobuf'
  | 'empty'
  | 'timestamp-not-digits'
  | 'price-not-decimal'
  | 'unknown-members'
  | 'unknown-topic'
  | 'unknown-topic-not-text'
  | 'notice-not-json'
  | 'too-large';

/** Topic and bytes. A member that cannot be read is one of a symbol that every market has. */
export function oddMessage(what: OddMessage, now: number): readonly [topic: string, payload: Uint8Array] {
  const basic = { symbol: 'AAPL', timestamp: String(now), session: 'RTH' };
  switch (what) {
    case 'not-protobuf':
      // A text of 127 bytes that has two.
      return ['snapshot', Uint8Array.of(0x0a, 0x7f, 0x7b, 0x7d)];
    case 'empty':
      return ['snapshot', new Uint8Array()];
    case 'timestamp-not-digits':
      return ['snapshot', encodeMembers({ ...basic, timestamp: 'just now' })];
    case 'price-not-decimal':
      return ['snapshot', encodeMembers(basic, new Map([[3, 'a lot']]))];
    case 'unknown-members':
      return ['snapshot', encodeMembers(basic, new Map([[99, 'later']]))];
    case 'unknown-topic':
      return ['event-later', Buffer.from('later')];
    case 'unknown-topic-not-text':
      return ['event-later', Uint8Array.of(0xff, 0xfe)];
    case 'notice-not-json':
      return ['notice', Buffer.from('not JSON')];
    case 'too-large':
      return ['snapshot', encodeMembers(basic, new Map([[99, 'x'.repeat(4_194_304)]]))];
  }
}
