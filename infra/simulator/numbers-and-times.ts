/** Formats numbers as decimal text from whole cents, so that nothing is rounded, and times in the forms that were seen live. */

/** Formats cents: 186 is `1.86`, -5 is `-0.05`. */
export function money(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Formats a ratio with four decimals, never a negative zero. */
export function ratio(part: number, whole: number): string {
  const tenThousandths = Math.round((part * 10_000) / whole);
  return (tenThousandths === 0 ? 0 : tenThousandths / 10_000).toFixed(4);
}

/** Formats a computed number with so many decimals, never a negative zero. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? (0).toFixed(decimals) : text;
}

/** Time of a bar: ISO 8601 with an offset that RFC 3339 does not know, `2026-11-17T09:30:00.000+0000`. */
export const offsetText = (time: number): string => new Date(time).toISOString().replace('Z', '+0000');

/** Time of a tick: milliseconds, but in a string. */
export const millisecondsText = (time: number): string => String(time);
