/** Faults on event streams, for tests to cause on purpose. */

import { encodeEvent } from './messages.ts';

/** Faults. One that does not say otherwise hits every open stream at once. */
export type EventFault =
  /** Sends event 4, then ends with OK. */
  | { readonly kind: 'expire' }
  /** Sends event 3, then ends with RESOURCE_EXHAUSTED. */
  | { readonly kind: 'too-many-connections' }
  /** Sends event 2, then ends with UNAUTHENTICATED. */
  | { readonly kind: 'authentication-error' }
  /** Answers the next so many subscriptions (default 1) like this, even correct ones. */
  | {
      readonly kind: 'refuse';
      readonly as: 'too-many-connections' | 'authentication-error' | 'unavailable';
      readonly times?: number;
    }
  /** Ends the connection without a message. */
  | { readonly kind: 'drop' }
  /**
   * Sends GOAWAY, as a server that restarts, then ends the connection. `code` is HTTP/2's, such as 11 to ask the client for
   * calm; 0, no error, when absent.
   */
  | { readonly kind: 'goaway'; readonly code?: number }
  /** Keeps sending pings but no data, until the stream has ended. */
  | { readonly kind: 'mute' }
  /** Stops everything, even HTTP/2's own acknowledgements. The stream no longer counts as open. */
  | { readonly kind: 'freeze' }
  /** Sends the last so many events again to the next subscription, with the same requestId. */
  | { readonly kind: 'repeat'; readonly events: number }
  /** Loses the next so many events for every stream. */
  | { readonly kind: 'lose'; readonly events: number }
  /** Sends an event of an unknown kind, with unknown members, or one that cannot be read. */
  | { readonly kind: 'send'; readonly what: OddEvent };

export type OddEvent =
  | 'unknown-type'
  | 'unknown-members'
  | 'payload-not-json'
  | 'payload-cut'
  | 'no-payload'
  | 'not-protobuf';

/** Encodes an odd event. */
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
      // Announces a text of 127 bytes and has two.
      return Uint8Array.of(0x22, 0x7f, 0x7b, 0x7d);
  }
}
