/**
 * Trading sessions that a call can name, and the hours of the real market's regular session. Regular trading never closes
 * in this market. Beside it, the extended session trades at prices of its own, before noon UTC as PRE and after it as ATH,
 * and so does the overnight session.
 */

import { dayMilliseconds, type Hours } from './prices.ts';

type SessionName = 'PRE' | 'RTH' | 'ATH' | 'OVN';

interface TradedSession {
  readonly session: Hours;
  /** Names the session that trades at a moment; undefined if it was not requested. */
  nameAt(time: number): SessionName | undefined;
}

/**
 * Chooses the session to report for the requested ones (regular by default): a single one at any moment, so that no moment
 * is reported twice. Regular trading comes first, then the extended session.
 */
export function sessionFor(asked: string | undefined): TradedSession {
  const names = (asked ?? 'RTH').split(',') as readonly SessionName[];
  if (names.includes('RTH')) return { session: 'regular', nameAt: () => 'RTH' };
  if (names.includes('PRE') || names.includes('ATH')) {
    return {
      session: 'extended',
      nameAt: (time) => {
        const name = time % dayMilliseconds < dayMilliseconds / 2 ? 'PRE' : 'ATH';
        return names.includes(name) ? name : undefined;
      },
    };
  }
  return { session: 'overnight', nameAt: () => 'OVN' };
}

const inNewYork = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

const openMinute = 9 * 60 + 30;
const closeMinute = 16 * 60;

const partsInNewYork = (time: number) =>
  new Map(inNewYork.formatToParts(time).map(({ type, value }) => [type, value]));

/** Time of day in New York, HH:MM:SS. */
export function clockInNewYork(time: number): string {
  const parts = partsInNewYork(time);
  return ['hour', 'minute', 'second'].map((name) => parts.get(name as 'hour')).join(':');
}

export type PartOfDay = 'before' | 'during' | 'after' | 'no-session';

/**
 * Position in the real market's regular session, 09:30 to 16:00 in New York from Monday to Friday, without holidays and
 * short days. Day orders and the reporting of greeks depend on it; the simulated market itself trades around the clock.
 */
function partOfDay(time: number): PartOfDay {
  const parts = partsInNewYork(time);
  if (['Sat', 'Sun'].includes(parts.get('weekday')!)) return 'no-session';
  const minute = 60 * Number(parts.get('hour')) + Number(parts.get('minute'));
  return minute < openMinute ? 'before' : minute < closeMinute ? 'during' : 'after';
}

/** Hours of a market that does not follow the clock. */
export type MarketHours = 'open' | 'closed';

/** Finds the position in the session at a time, by the clock unless the hours are fixed. */
export const hoursOf = (fixed: MarketHours | undefined): ((time: number) => PartOfDay) =>
  fixed === undefined ? partOfDay : () => (fixed === 'open' ? 'during' : 'after');
