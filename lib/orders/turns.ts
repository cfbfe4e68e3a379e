/**
 * Where a run begins in a list of entries: each minute in another place, so that all have their turn, however many they are
 * and however few a run comes to. No run knows of the ones before.
 */

/** Of keyed names, in the order of their characters. */
const characters = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';

const goldenPart = (Math.sqrt(5) - 1) / 2;

/**
 * Steps by the golden section leave no large gap: where each run comes to the k-th part of a list, 2k runs in a row come to
 * all of evenly spread keys, and 3k to all of such as there are.
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
