/**
 * The trading sessions that a call can name. Regular trading never closes in this market; beside it, the
 * extended session trades at prices of its own (before noon UTC as PRE, after it as ATH), and so does the
 * overnight session.
 */

import { dayMilliseconds, type Session } from './prices.ts';

export type SessionName = 'PRE' | 'RTH' | 'ATH' | 'OVN';

export interface TradedSession {
  readonly session: Session;
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
