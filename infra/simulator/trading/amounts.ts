/** Quantities and money of accounts: whole numbers all the way, so that sums are exact. */

/** One share is 100 000 of these: quantities have at most five decimals. */
export type Quantity = bigint;

export const oneShare: Quantity = 100_000n;

/** A quantity that is not negative; undefined for a text that is none, or has more decimals. */
export function parseQuantity(text: string | undefined): Quantity | undefined {
  const [matched, whole = '', part = ''] = /^\+?(\d{1,12})(?:\.(\d{0,5})0*)?$/.exec(text ?? '') ?? [];
  return matched === undefined ? undefined : BigInt(whole) * oneShare + BigInt(part.padEnd(5, '0'));
}

/** With as few decimals as it needs. */
export function quantityText(quantity: Quantity): string {
  return decimalText(quantity, 5).replace(/\.?0+$/, '');
}

/** Cents as dollars: 186n is `1.86`. */
export const dollarText = (cents: bigint): string => decimalText(cents, 2);

/** A whole number of the smallest unit as a decimal. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Rounded to the nearest, away from zero when both are as near. */
export function divide(part: bigint, whole: bigint): bigint {
  const negative = part < 0n !== whole < 0n;
  const [a, b] = [part < 0n ? -part : part, whole < 0n ? -whole : whole];
  const result = (2n * a + b) / (2n * b);
  return negative ? -result : result;
}

/** What a quantity costs at a price in cents, in cents. */
export function amountOf(price: number, quantity: Quantity, multiplier: number): bigint {
  return divide(BigInt(price) * quantity * BigInt(multiplier), oneShare);
}

/** A ratio with four decimals; 0 when there is nothing to compare with. */
export function ratioText(part: bigint, whole: bigint): string {
  return decimalText(whole === 0n ? 0n : divide(part * 10_000n, whole), 4);
}
