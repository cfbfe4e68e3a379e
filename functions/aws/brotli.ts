/** Brotli, as all stores write and read it: DynamoDB charges by the kilobyte. */

import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** More is better by little and slower by much: 0.6 ms for a hundred records. */
const quality = 5;

/** @param bytes of a text */
export const compress = (bytes: Uint8Array): Uint8Array =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });

/** @throws when it is not Brotli, or when it is longer than `maxBytes` */
export const decompress = (compressed: Uint8Array, maxBytes: number): Buffer =>
  brotliDecompressSync(compressed, { maxOutputLength: maxBytes });
