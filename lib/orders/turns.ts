/**
 * Chooses where a run begins in a list of entries: in another place each minute, so that every entry gets its turn, however
 * few entries a run finishes. It needs no memory of earlier runs.
 */

/** Characters of keyed names in sort order. */
const characters = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';

const goldenPart = (Math.sqrt(5) - 1) / 2;

/**
 * Steps by the golden section leave no large gap: if each run finishes the k-th part of a list, 2k runs in a row cover
 * evenly spread keys, and 3k cover real ones.
 *
 * @param now in milliseconds since the epoch
 * @returns the beginning of a key
 *
 * @example
 * turnAt(Date.now()); // e.g. 'r3'
 */
export function turnAt(now: number): string {
  const place = Math.floor(((Math.floor(now / 60_000) * goldenPart) % 1) * characters.length ** 2);
  const [first, second] = [Math.floor(place / characters.length), place % characters.length];
  return `${characters[first]}${characters[second]}`;
}
