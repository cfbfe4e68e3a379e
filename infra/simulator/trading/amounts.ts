/** Quantities and money of accounts, in whole numbers throughout, so that sums are exact. */

/** Number of 100 000ths of a share: quantities have at most five decimals. */
export type Quantity = bigint;

export const oneShare: Quantity = 100_000n;

/** Parses a quantity that is not negative; undefined for other text, or for more decimals. */
export function parseQuantity(text: string | undefined): Quantity | undefined {
  const [matched, whole = '', part = ''] = /^\+?(\d{1,12})(?:\.(\d{0,5})0*)?$/.exec(text ?? '') ?? [];
  return matched === undefined ? undefined : BigInt(whole) * oneShare + BigInt(part.padEnd(5, '0'));
}

/** Writes a quantity with as few decimals as it needs. */
export function quantityText(quantity: Quantity): string {
  return decimalText(quantity, 5).replace(/\.?0+$/, '');
}

/** Writes cents as dollars: 186n is `1.86`. */
export const dollarText = (cents: bigint): string => decimalText(cents, 2);

/** Writes a whole number of the smallest unit as a decimal. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Divides, rounded to the nearest, and away from zero when both are as near. */
export function divide(part: bigint, whole: bigint): bigint {
  const negative = part < 0n !== whole < 0n;
  const [a, b] = [part < 0n ? -part : part, whole < 0n ? -whole : whole];
  const result = (2n * a + b) / (2n * b);
  return negative ? -result : result;
}

/** Value in cents of a quantity at a price in cents. */
export function amountOf(price: number, quantity: Quantity, multiplier: number): bigint {
  return divide(BigInt(price) * quantity * BigInt(multiplier), oneShare);
}

/** Ratio with four decimals; 0 when the whole is 0. */
export function ratioText(part: bigint, whole: bigint): string {
  return decimalText(whole === 0n ? 0n : divide(part * 10_000n, whole), 4);
}
