/** Packs bytes for all stores: in Brotli, because DynamoDB charges by the kilobyte, and sealed where they are secret. */

import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Sealer } from '../../lib/kernel/sealer.ts';

/** Brotli quality, 0.6 ms for a hundred records; a higher one compresses little better and is much slower. */
const quality = 5;

/** @param bytes the bytes of a text */
export const compress = (bytes: Uint8Array): Uint8Array =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });

/** @throws when the bytes are not Brotli, or their content is longer than `maxBytes` */
export const decompress = (compressed: Uint8Array, maxBytes: number): Buffer =>
  brotliDecompressSync(compressed, { maxOutputLength: maxBytes });

/** Largest unpacked text, larger than any request's body and answer together. */
const maxUnpackedBytes = 16 * 1024 * 1024;

export const sealText = (sealer: Sealer, text: string, about: string): Promise<Uint8Array> =>
  sealer.seal(compress(Buffer.from(text)), about);

/** @returns undefined for bytes that were sealed with another key, or not at all */
export async function openText(
  sealer: Sealer,
  sealed: Uint8Array | undefined,
  about: string,
): Promise<string | undefined> {
  const opened = sealed && (await sealer.open(sealed, about));
  return opened && decompress(opened, maxUnpackedBytes).toString();
}
