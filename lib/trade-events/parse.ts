/** What a message of the stream is: a sign of the stream's own life, or data. Unknown kinds pass as such. */

import { decodeSubscribeResponse, type SubscribeResponse } from './messages.ts';

const kinds = {
  0: 'subscribed',
  1: 'ping',
  2: 'authentication_error',
  3: 'too_many_connections',
  4: 'expired',
  1024: 'order',
  1028: 'position',
  1032: 'option',
} as const;

export type StreamMessageKind = (typeof kinds)[keyof typeof kinds] | 'other';

export interface StreamMessage extends SubscribeResponse {
  readonly kind: StreamMessageKind;
}

/**
 * @param bytes one message of the stream
 * @throws RangeError or Error for bytes that are no message
 * @example
 * for await (const bytes of stream) {
 *   const message = parseStreamMessage(bytes);
 *   if (message.kind === 'order') console.log(JSON.parse(message.payload));
 * }
 */
export function parseStreamMessage(bytes: Uint8Array): StreamMessage {
  const message = decodeSubscribeResponse(bytes);
  return { ...message, kind: kinds[message.eventType as keyof typeof kinds] ?? 'other' };
}
