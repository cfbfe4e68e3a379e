/**
 * The trading sessions that a call can name, and the hours of the real market's regular session. Regular trading never closes in this market; beside it, the
 * extended session trades at prices of its own (before noon UTC as PRE, after it as ATH), and so does the
 * overnight session.
 */

import { dayMilliseconds, type Hours } from './prices.ts';

export type SessionName = 'PRE' | 'RTH' | 'ATH' | 'OVN';

export interface TradedSession {
  readonly session: Hours;
  /** What trades at a moment is called; undefined when that was not asked for. */
  nameAt(time: number): SessionName | undefined;
}

/**
 * Where trading is to be looked at when these sessions are asked for (regular when none is): one of them at
 * any moment, so that no moment is reported twice. Regular trading comes first, then the extended session.
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

const start = 9 * 60 + 30;
const end = 16 * 60;

const partsInNewYork = (time: number) =>
  new Map(inNewYork.formatToParts(time).map(({ type, value }) => [type, value]));

/** HH:MM:SS in New York. */
export function clockInNewYork(time: number): string {
  const parts = partsInNewYork(time);
  return ['hour', 'minute', 'second'].map((name) => parts.get(name as 'hour')).join(':');
}

export type PartOfDay = 'before' | 'during' | 'after' | 'no-session';

/**
 * The hours of the real market's regular session, by which orders for the day are taken and greeks reported; the
 * simulated market itself trades on around the clock. 09:30 to 16:00 in New York from Monday to Friday: it knows no
 * holidays, and no short days.
 */
export function partOfDay(time: number): PartOfDay {
  const parts = partsInNewYork(time);
  if (['Sat', 'Sun'].includes(parts.get('weekday')!)) return 'no-session';
  const minute = 60 * Number(parts.get('hour')) + Number(parts.get('minute'));
  return minute < start ? 'before' : minute < end ? 'during' : 'after';
}
