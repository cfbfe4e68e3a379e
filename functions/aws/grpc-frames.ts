/** gRPC's own few words within HTTP/2: a message's frame, and what a call's end is called. */

import { constants } from 'node:http2';
import { StreamError } from '../../lib/trade-events/ports.ts';

/** A flag and the message's length come before each message. */
const prefixBytes = 5;

/** The default bound of gRPC libraries. An event has a few hundred bytes. */
const maxMessageBytes = 4 * 1024 * 1024;

/** One message as it is sent: not compressed. */
export function toFrame(message: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(prefixBytes + message.byteLength);
  frame.writeUInt32BE(message.byteLength, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/**
 * Collects chunks, wherever the network cut them, and gives whole messages.
 *
 * @throws StreamError for a compressed message, which was not asked for, and for one that is too long
 */
export class FrameReader {
  #rest: Uint8Array = new Uint8Array();

  *read(chunk: Uint8Array): Generator<Uint8Array> {
    let bytes = this.#rest.byteLength > 0 ? Buffer.concat([this.#rest, chunk]) : Buffer.from(chunk);
    while (bytes.byteLength >= prefixBytes) {
      if (bytes[0] !== 0) throw new StreamError('INTERNAL');
      const end = prefixBytes + bytes.readUInt32BE(1);
      if (end - prefixBytes > maxMessageBytes) throw new StreamError('RESOURCE_EXHAUSTED');
      if (bytes.byteLength < end) break;
      // A copy: the chunk's memory is not kept for the sake of one message.
      yield new Uint8Array(bytes.subarray(prefixBytes, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }
}

/** By number, as a trailer has it. */
const statusNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export const statusName = (status: string): string =>
  (/^\d{1,2}$/.test(status) && statusNames[Number(status)]) || 'UNKNOWN';

/** What stands between answers with an HTTP status of its own: as gRPC reads it. */
const httpStatusNames: Readonly<Record<number, string>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

export const httpStatusName = (status: number): string => httpStatusNames[status] ?? 'UNKNOWN';

/** A stream that the other side reset, as gRPC reads it; but a cancelled one is also what Node makes of a lost connection. */
const resetNames: Readonly<Record<number, string>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: 'UNAVAILABLE',
  [constants.NGHTTP2_CANCEL]: 'UNAVAILABLE',
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: 'RESOURCE_EXHAUSTED',
  [constants.NGHTTP2_INADEQUATE_SECURITY]: 'PERMISSION_DENIED',
};

export const resetName = (code: number): string => resetNames[code] ?? 'INTERNAL';
