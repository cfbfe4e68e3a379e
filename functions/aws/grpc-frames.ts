/** gRPC's additions to HTTP/2: the frame of a message, and the names of a call's end. */

import { constants } from 'node:http2';
import { StreamError } from '../../lib/trade-events/ports.ts';
import { maxChannelMessageBytes } from '../../lib/upstream/channel-bound.ts';

/** Bytes before each message: a flag and the message's length. */
const prefixBytes = 5;

/** Frames one message, uncompressed. */
export function toFrame(message: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(prefixBytes + message.byteLength);
  frame.writeUInt32BE(message.byteLength, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/**
 * Collects chunks, wherever the network cut them, and yields whole messages.
 *
 * @throws StreamError for a compressed message, which was not asked for, and for one that is too long
 */
export class FrameReader {
  readonly #prefix = Buffer.alloc(prefixBytes);
  /** The message under way; undefined until its prefix is whole. */
  #message: Uint8Array | undefined;
  /** Received bytes of the prefix, or of the message. */
  #filled = 0;

  *read(chunk: Uint8Array): Generator<Uint8Array> {
    // Each byte is copied once, however small the chunks are, and no chunk's memory is kept.
    for (let at = 0; at < chunk.byteLength; ) {
      const part = this.#message ?? this.#prefix;
      const taken = chunk.subarray(at, at + part.byteLength - this.#filled);
      part.set(taken, this.#filled);
      this.#filled += taken.byteLength;
      at += taken.byteLength;
      if (this.#filled < part.byteLength) return;
      this.#filled = 0;
      this.#message = this.#message ? undefined : new Uint8Array(this.#lengthInPrefix());
      if (!this.#message) yield part;
      else if (this.#message.byteLength === 0) {
        yield this.#message;
        this.#message = undefined;
      }
    }
  }

  #lengthInPrefix(): number {
    if (this.#prefix[0] !== 0) throw new StreamError('INTERNAL');
    const bytes = this.#prefix.readUInt32BE(1);
    if (bytes > maxChannelMessageBytes) throw new StreamError('RESOURCE_EXHAUSTED');
    return bytes;
  }
}

/** Names of the statuses by their number in a trailer. */
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

/** gRPC's names for HTTP statuses, with which proxies on the way answer. */
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

/** gRPC's names for resets of a stream, except that CANCEL is UNAVAILABLE: Node also reports it for a lost connection. */
const resetNames: Readonly<Record<number, string>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: 'UNAVAILABLE',
  [constants.NGHTTP2_CANCEL]: 'UNAVAILABLE',
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: 'RESOURCE_EXHAUSTED',
  [constants.NGHTTP2_INADEQUATE_SECURITY]: 'PERMISSION_DENIED',
};

export const resetName = (code: number): string => resetNames[code] ?? 'INTERNAL';
