/** Repeatable chance: the same seed and texts give the same numbers on every run and machine. */

/** Scrambles two integers into an unsigned 32-bit one. */
export function mix(a: number, b: number): number {
  let h = a ^ Math.imul(b ^ 0x2545f491, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** An unsigned 32-bit hash of a text. */
export function hashOf(seed: number, text: string): number {
  let h = mix(seed, text.length);
  for (let at = 0; at < text.length; at++) h = mix(h, text.charCodeAt(at));
  return h;
}

/** Maps a hash to a number from 0 up to, but not including, 1. */
export function fraction(hash: number): number {
  return hash / 2 ** 32;
}

/** Makes a text of 32 hexadecimal digits. */
export const hexText = (hash: number): string =>
  Array.from({ length: 4 }, (_, at) => mix(hash, at).toString(16).padStart(8, '0')).join('');

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Makes an identifier of `length` digits and capital letters. */
export function identifier(hash: number, length: number): string {
  return Array.from({ length }, (_, at) => digits[mix(hash, at) % digits.length]).join('');
}
