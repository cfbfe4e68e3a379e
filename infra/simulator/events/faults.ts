/** What goes wrong on event streams, for tests to bring about on purpose. */

import { encodeEvent } from './messages.ts';

/** Where nothing else is said, it happens at once to every stream that is open. */
export type EventFault =
  /** Event 4, then the end with OK. */
  | { readonly kind: 'expire' }
  /** Event 3, then the end with RESOURCE_EXHAUSTED. */
  | { readonly kind: 'too-many-connections' }
  /** Event 2, then the end with UNAUTHENTICATED. */
  | { readonly kind: 'authentication-error' }
  /** The next so many subscriptions (default 1) are answered like this, however right they are. */
  | {
      readonly kind: 'refuse';
      readonly as: 'too-many-connections' | 'authentication-error' | 'unavailable';
      readonly times?: number;
    }
  /** The connection ends without a word. */
  | { readonly kind: 'drop' }
  /**
   * HTTP/2's own farewell, as of a server that restarts, then the end of the connection. `code` is HTTP/2's, such as 11
   * to ask the client for calm; 0, no error, when absent.
   */
  | { readonly kind: 'goaway'; readonly code?: number }
  /** Pings go on, and data does not, until the stream has ended. */
  | { readonly kind: 'mute' }
  /** Nothing comes any more, not even what HTTP/2 itself acknowledges. The stream no longer counts as open. */
  | { readonly kind: 'freeze' }
  /** The next subscription gets the last so many events again, with the same requestId. */
  | { readonly kind: 'repeat'; readonly events: number }
  /** The next so many events reach no stream. */
  | { readonly kind: 'lose'; readonly events: number }
  /** An event of a kind, or with members, that no client knows, or one that cannot be read. */
  | { readonly kind: 'send'; readonly what: OddEvent };

export type OddEvent =
  | 'unknown-type'
  | 'unknown-members'
  | 'payload-not-json'
  | 'payload-cut'
  | 'no-payload'
  | 'not-protobuf';

/** The bytes of an odd event. */
export function oddEvent(what: OddEvent, requestId: string, timestamp: number): Uint8Array {
  const common = { subscribeType: 1, contentType: 'application/json', requestId, timestamp };
  switch (what) {
    case 'unknown-type':
      return encodeEvent({ ...common, eventType: 4096, payload: '{"later":true}' });
    case 'unknown-members':
      return encodeEvent({ ...common, eventType: 1024, payload: '{"later":{"a":[1]}}' }, true);
    case 'payload-not-json':
      return encodeEvent({ ...common, eventType: 1024, payload: 'not JSON' });
    case 'payload-cut':
      return encodeEvent({ ...common, eventType: 1024, payload: '{"account_id":"Q7H2' });
    case 'no-payload':
      return encodeEvent({ ...common, eventType: 1024 });
    case 'not-protobuf':
      // A text of 127 bytes that has two.
      return Uint8Array.of(0x22, 0x7f, 0x7b, 0x7d);
  }
}
