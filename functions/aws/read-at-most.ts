/** Reads a response's body, decompressed, up to a limit. */

import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Only gzip is asked for; the others cost nothing to understand. */
const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Undefined when the body is longer. Rejects when it is cut off or cannot be decompressed. */
export async function readAtMost(
  incoming: IncomingMessage,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Chunk by chunk, so that a small body that unpacks to a huge one is left where it gets too large.
  for await (const chunk of decoded(incoming) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decoded(incoming: IncomingMessage): AsyncIterable<unknown> {
  const encoding = incoming.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding === 'identity') return incoming;
  if (!Object.hasOwn(decoders, encoding)) throw new Error('an encoding that was not asked for');
  // An error of either stream ends the other; the reader gets it from the decoder.
  return pipeline(incoming, decoders[encoding as keyof typeof decoders](), () => {});
}
