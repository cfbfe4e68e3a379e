/**
 * Decimal numbers as the interface writes them: in text, sometimes in scientific notation (`1.78E8`). All
 * reckoning is on BigInt, so that no digit is lost; there is no division, which could not promise that.
 *
 * Each function throws a RangeError for a text that is no decimal number, or whose exponent is beyond 1000
 * either way: nobody's price, but enough digits to stop a program.
 */

/** sign × digits ÷ 10^scale. `1.10` has the digits 110 and the scale 2; a zero has the sign 0. */
export interface DecimalParts {
  readonly sign: -1 | 0 | 1;
  readonly digits: bigint;
  /** Never negative. */
  readonly scale: number;
}

/** What becomes of digits that are cut: ties away from zero, ties to the even digit, or all towards zero. */
export type Rounding = 'half-up' | 'half-even' | 'down';

export function decimalParts(text: string): DecimalParts {
  const { value, scale } = parse(text);
  return { sign: value === 0n ? 0 : value < 0n ? -1 : 1, digits: value < 0n ? -value : value, scale };
}

/** The one plain form of a value: `1.780E8` is `178000000`, `+01.50` is `1.5`, `-0.0` is `0`. */
export const plainDecimal = (text: string): string => plain(parse(text));

/** -1, 0 or 1, to sort by: `1.5` and `1.50` are equal. */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

export function addDecimals(a: string, b: string): string {
  const [x, y, scale] = aligned(a, b);
  return plain({ value: x + y, scale });
}

/** a − b */
export function subtractDecimals(a: string, b: string): string {
  const [x, y, scale] = aligned(a, b);
  return plain({ value: x - y, scale });
}

export function multiplyDecimals(a: string, b: string): string {
  const [x, y] = [parse(a), parse(b)];
  return plain({ value: x.value * y.value, scale: x.scale + y.scale });
}

/**
 * With exactly this many decimal places, to show: `240.5` with 2 is `240.50`. The one function that may lose
 * digits, when it is told to keep fewer than there are.
 */
export function fixedDecimal(text: string, places: number, rounding: Rounding = 'half-up'): string {
  if (!Number.isInteger(places) || places < 0 || places > limit)
    throw new RangeError('places: a whole number from 0 to 1000');
  const { value, scale } = parse(text);
  if (scale <= places) return written(value * 10n ** BigInt(places - scale), places);
  const unit = 10n ** BigInt(scale - places);
  const kept = value / unit;
  const rest = (value % unit) * 2n;
  const twice = rest < 0n ? -rest : rest;
  const away =
    rounding !== 'down' && (twice > unit || (twice === unit && (rounding === 'half-up' || kept % 2n !== 0n)));
  return written(away ? kept + (value < 0n ? -1n : 1n) : kept, places);
}

/**
 * As a binary number, for charts and the like. `exact` tells whether it still prints as the same decimal:
 * `0.1` does, `0.12345678901234567890` does not.
 */
export function decimalToNumber(text: string): { readonly number: number; readonly exact: boolean } {
  const { value, scale } = parse(text);
  const number = Number(text);
  if (!Number.isFinite(number)) return { number, exact: false };
  const shown = parse(String(number));
  const common = Math.max(scale, shown.scale);
  return { number, exact: raised(value, common - scale) === raised(shown.value, common - shown.scale) };
}

interface Scaled {
  readonly value: bigint;
  readonly scale: number;
}

const limit = 1000;
const form = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/;

function parse(text: string): Scaled {
  const match = typeof text === 'string' ? form.exec(text) : null;
  const exponent = Number(match?.[5] ?? 0);
  if (!match || Math.abs(exponent) > limit) throw new RangeError('not a decimal number in a text');
  const [, sign, whole = '', fraction = match[4] ?? ''] = match;
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - exponent;
  const value = sign === '-' ? -digits : digits;
  return scale < 0 ? { value: raised(value, -scale), scale: 0 } : { value, scale };
}

const raised = (value: bigint, by: number) => value * 10n ** BigInt(by);

function aligned(a: string, b: string): [bigint, bigint, scale: number] {
  const [x, y] = [parse(a), parse(b)];
  const scale = Math.max(x.scale, y.scale);
  return [raised(x.value, scale - x.scale), raised(y.value, scale - y.scale), scale];
}

function plain({ value, scale }: Scaled): string {
  const text = written(value, scale);
  return scale > 0 ? text.replace(/\.?0+$/, '') : text;
}

function written(value: bigint, scale: number): string {
  const digits = `${value < 0n ? -value : value}`.padStart(scale + 1, '0');
  const at = digits.length - scale;
  return `${value < 0n ? '-' : ''}${digits.slice(0, at)}${scale > 0 ? `.${digits.slice(at)}` : ''}`;
}
