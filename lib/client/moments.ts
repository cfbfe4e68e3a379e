/**
 * Converts moments and days as the interface writes them. By the interface's rule a moment is an integer of milliseconds.
 * Live answers have four forms: that integer (snapshots), its digits as text (ticks), ISO 8601 text with `+0000` (bars),
 * which not every engine's `Date.parse` accepts, and `yyyyMMdd` (capital flow).
 *
 * Each function throws a RangeError for any other text. A moment with a time of day needs its offset from UTC: without
 * one it would be another moment on each machine.
 */

/**
 * Converts a moment to a Date, which has milliseconds; `epochNanoseconds` keeps all digits. A day alone becomes its
 * midnight UTC, as with `dayToDate`. Eight digits are a day, because as milliseconds they would lie in 1970.
 *
 * @example
 * toDate('2021-12-28T09:00:09.945+0000').getTime(); // 1640682009945
 * toDate(1640682009945).toISOString(); // '2021-12-28T09:00:09.945Z'
 * toDate('20211228').toISOString(); // '2021-12-28T00:00:00.000Z'
 */
export const toDate = (moment: number | string): Date => new Date(parse(moment).milliseconds);

/**
 * Converts a moment to nanoseconds since 1970-01-01T00:00:00Z.
 *
 * @example
 * epochNanoseconds('1970-01-01T00:00:01.000000001Z'); // 1000000001n
 */
export function epochNanoseconds(moment: number | string): bigint {
  const { milliseconds, nanoseconds } = parse(moment);
  return BigInt(milliseconds) * 1_000_000n + BigInt(nanoseconds);
}

/**
 * Writes a day as yyyy-MM-dd, from this form or the one without dashes.
 *
 * @example
 * toDay('20261122'); // '2026-11-22'
 */
export const toDay = (day: string): string => dayParts(day).join('-');

/**
 * Writes a day as yyyyMMdd, from this form or the one with dashes.
 *
 * @example
 * toCompactDay('2026-11-22'); // '20261122'
 */
export const toCompactDay = (day: string): string => dayParts(day).join('');

/**
 * Converts a day to its midnight UTC, to compare days, or to format with the time zone set to UTC.
 *
 * @example
 * dayToDate('2026-11-22').toLocaleDateString('en', { timeZone: 'UTC' }); // '11/22/2026'
 */
export const dayToDate = (day: string): Date => new Date(`${toDay(day)}T00:00:00.000Z`);

interface ParsedMoment {
  readonly milliseconds: number;
  /** Rest beyond the whole milliseconds. */
  readonly nanoseconds: number;
}

/** The largest distance from 1970 that a Date can hold. */
const maxEpochMs = 8_640_000_000_000_000;
const dayForm = /^\d{4}(-\d\d-\d\d|\d{4})$/;
const isoForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))$/;

function parse(moment: number | string): ParsedMoment {
  if (typeof moment === 'string' && dayForm.test(moment))
    return { milliseconds: dayToDate(moment).getTime(), nanoseconds: 0 };
  const milliseconds = typeof moment === 'string' && /^-?\d{1,16}$/.test(moment) ? Number(moment) : moment;
  if (typeof milliseconds === 'number') {
    if (!Number.isInteger(milliseconds) || Math.abs(milliseconds) > maxEpochMs) throw noMoment();
    return { milliseconds, nanoseconds: 0 };
  }
  const match = typeof moment === 'string' && isoForm.exec(moment);
  if (!match) throw noMoment();
  const [, local = '', fraction = '', sign, hours = 0, minutes = 0] = match;
  const inUtc = Date.parse(`${local}Z`);
  // Parsers differ on days that do not exist: some read the 31st of June as the 1st of July.
  if (Number.isNaN(inUtc) || !new Date(inUtc).toISOString().startsWith(local)) throw noMoment();
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const digits = fraction.padEnd(9, '0');
  return {
    milliseconds: inUtc - (sign === '-' ? -offset : offset) + Number(digits.slice(0, 3)),
    nanoseconds: Number(digits.slice(3)),
  };
}

const noMoment = () =>
  new RangeError('not a moment: whole milliseconds, or ISO 8601 text with an offset from UTC');

function dayParts(day: string): [year: string, month: string, day: string] {
  const match =
    typeof day === 'string' && (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? /^(\d{4})(\d\d)(\d\d)$/.exec(day));
  const [, year = '', month = '', date = ''] = match || [];
  const time = Date.parse(`${year}-${month}-${date}T00:00:00Z`);
  if (!match || Number.isNaN(time) || new Date(time).getUTCDate() !== Number(date))
    throw new RangeError('not a calendar day, yyyy-MM-dd or yyyyMMdd');
  return [year, month, date];
}
