/** A text as a store keeps it: compressed, and sealed with what it is about, so that it opens in its own place alone. */

import type { Sealer } from '../../lib/kernel/sealer.ts';
import { compress, decompress } from './brotli.ts';

/** More than a request's body and its answer can be. */
const maxUnpackedBytes = 16 * 1024 * 1024;

export const sealText = (sealer: Sealer, text: string, about: string): Promise<Uint8Array> =>
  sealer.seal(compress(Buffer.from(text)), about);

/** @returns undefined for what was sealed with another key, or not at all */
export async function openText(
  sealer: Sealer,
  sealed: Uint8Array | undefined,
  about: string,
): Promise<string | undefined> {
  const opened = sealed && (await sealer.open(sealed, about));
  return opened && decompress(opened, maxUnpackedBytes).toString();
}
