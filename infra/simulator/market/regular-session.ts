/**
 * The hours of the real market's regular session, by which orders for the day are taken and greeks reported; the
 * simulated market itself trades on around the clock. 09:30 to 16:00 in New York from Monday to Friday: it knows no
 * holidays, and no short days.
 */

const inNewYork = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  weekday: 'short',
  hour: 'numeric',
  minute: 'numeric',
});

const start = 9 * 60 + 30;
const end = 16 * 60;

export type PartOfDay = 'before' | 'during' | 'after' | 'no-session';

export function partOfDay(time: number): PartOfDay {
  const parts = new Map(inNewYork.formatToParts(time).map(({ type, value }) => [type, value]));
  if (['Sat', 'Sun'].includes(parts.get('weekday')!)) return 'no-session';
  const minute = 60 * Number(parts.get('hour')) + Number(parts.get('minute'));
  return minute < start ? 'before' : minute < end ? 'during' : 'after';
}
