/** Faults on the market-data stream, for tests to cause on purpose. */

import { encodeMembers } from './messages.ts';

/** Faults. Each hits every open session at once, or only the named one; some say that they hit later ones. */
export type MarketStreamFault = { readonly session?: string } & (
  | /** Stops the data and nothing else, until the session subscribes again or for good. */
  { readonly kind: 'mute'; readonly until?: 'subscribe' | 'never' }
  /** Stops everything, even the answer to a ping; the connection stays up. */
  | { readonly kind: 'freeze' }
  /** Makes the session unknown over HTTP, without data, while its connection stays up. Its id never works again. */
  | { readonly kind: 'forget' }
  /** Acts as if another client had connected with the session's id: the connection ends, and does not count. */
  | { readonly kind: 'take-over' }
  /** Ends the connection without a message. */
  | { readonly kind: 'drop' }
  /** Ends a WebSocket with a frame that has text in place of the code; simply ends other connections. */
  | { readonly kind: 'bye-bye' }
  /** Sends a notice that another session took the right to a category's data. Data goes on. */
  | { readonly kind: 'grabbed'; readonly category?: string }
  /** Hides session ids from HTTP for so many milliseconds after their first connection, from now on; 0 ends it. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Refuses the next so many connections (default 1) with a code, even correct ones. */
  | { readonly kind: 'refuse'; readonly code: number; readonly times?: number }
  /** Sends later messages with these flags; neither quality 1 nor retained messages were seen. */
  | { readonly kind: 'deliver'; readonly qos: 0 | 1; readonly retain: boolean }
  /** Sends a message that no client expects. */
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

/** Makes an odd message's topic and bytes. An unreadable member is one of a symbol that every market has. */
export function oddMessage(what: OddMessage, now: number): readonly [topic: string, payload: Uint8Array] {
  const basic = { symbol: 'AAPL', timestamp: String(now), session: 'RTH' };
  switch (what) {
    case 'not-protobuf':
      // Announces a text of 127 bytes and has two.
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
