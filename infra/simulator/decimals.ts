/** Numbers as the interface writes them: decimal text, made from whole cents so that nothing is rounded. */

/** 186 is `1.86`, -5 is `-0.05`. */
export function money(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** A ratio with four decimals, never a negative zero. */
export function ratio(part: number, whole: number): string {
  const tenThousandths = Math.round((part * 10_000) / whole);
  return (tenThousandths === 0 ? 0 : tenThousandths / 10_000).toFixed(4);
}

/** A computed number with so many decimals, never a negative zero. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? (0).toFixed(decimals) : text;
}
