/** Checks the access token: whether it works and for how long. Uses it when its end is near, which prolongs its life. */

import type { TokenCalls, TokenState } from './calls.ts';

export interface TokenReport {
  readonly result: 'not_needed' | 'missing' | 'normal' | 'pending' | 'invalid' | 'expired';
  /** 0 for a token that does not work; absent where no token is needed, and where the upstream names no end. */
  readonly daysLeft?: number;
  /** Present when the token was used to prolong its life: whether that worked. */
  readonly prolonged?: boolean;
}

interface TokenCheck {
  /** Token in the app secret; undefined when the secret holds none. */
  readonly token: string | undefined;
  readonly calls: TokenCalls;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Value of the metric when no end is known, or no token is needed. Without a value an alarm keeps its state, so an alarm
 * that rings would never end; each alarm's threshold is far below this value.
 */
export const noEndDays = 365;

const dayMs = 86_400_000;

/**
 * Days before its end from which the check uses a token. Such a token was not used for days, or use does not prolong it: a
 * token in use has 15 days. Early enough for many attempts before the alarm, which comes 7 days before the end at most.
 */
const useWithinDays = 10;

/** Rejects with a TokenCallError when the upstream does not answer: then nothing is known of the token. */
export async function checkAccessToken({ token, calls, clock }: TokenCheck): Promise<TokenReport> {
  if (!(await calls.isNeeded())) return { result: 'not_needed' };
  if (token === undefined) return { result: 'missing', daysLeft: 0 };
  const before = reportOf(await calls.check(token), clock());
  if (before.result !== 'normal' || before.daysLeft === undefined || before.daysLeft > useWithinDays)
    return before;
  if (!(await calls.use(token))) return { result: 'invalid', daysLeft: 0, prolonged: false };
  const after = reportOf(await calls.check(token), clock());
  return { ...after, prolonged: (after.daysLeft ?? 0) > before.daysLeft };
}

function reportOf({ status, expiresAt }: TokenState, now: number): TokenReport {
  if (status !== 'NORMAL') return { result: status.toLowerCase() as Lowercase<typeof status>, daysLeft: 0 };
  if (expiresAt === undefined) return { result: 'normal' };
  return { result: 'normal', daysLeft: Math.max(0, Math.floor(((expiresAt - now) / dayMs) * 10) / 10) };
}
