/** Between an attempt and the budget: what leaves has a permission that is good at that very moment. */

import { afterTimeout, type Limiter, type Permit, type Priority } from '../limiter/index.ts';
import type { Refusal } from '../problem.ts';
import type { LetGo } from './send.ts';

/** With less time than this before the platform stops waiting, an attempt is not begun. */
export const leastAttemptMs = 1000;

export const outOfTime: Refusal = {
  code: 'gateway_timeout',
  detail: 'The gateway ran out of time before the request could be sent; it was not sent.',
};

export interface AttemptCall {
  readonly appKey: string;
  readonly limits: readonly [string, ...string[]];
  /** Until the platform stops waiting, in milliseconds. */
  readonly timeLeft: () => number;
  readonly clock: () => number;
  /** What is learnt on the way. */
  readonly trail: { attempts: number; waitedMs?: number; readonly priority?: Priority };
}

/** For one attempt. */
export interface AttemptPermit {
  readonly letGo: LetGo;
  /** Why it was not let go in the end. */
  readonly refusal: Refusal | undefined;
}

/** Longer waits help few, and each occupies a function. */
const longestWaitMs = 2000;
/** From the permission to the beginning of the attempt. */
const signingMs = 100;
/** How often a permission that has run out is replaced: its life is short, and a new connection may take longer. */
const mostReplacements = 2;
/** The client's answer is there already; other instances should hear of it all the same. */
const longestClosingMs = 1500;

/**
 * Waits for a permission, not longer than would leave no time for the attempt.
 *
 * @param given one that the attempt has already
 */
export async function acquireForAttempt(
  budget: Limiter,
  call: AttemptCall,
  given?: Permit,
): Promise<AttemptPermit | Refusal> {
  const first = given ?? (await permission(budget, call));
  if ('code' in first) return first;
  let good = first;
  let refusal: Refusal | undefined;
  return {
    get refusal() {
      return refusal;
    },
    async letGo(leave) {
      for (let replaced = 0; !good.consume(); replaced++) {
        const next = replaced < mostReplacements ? await permission(budget, call) : refused(call, tooSlow);
        if ('code' in next) {
          refusal = next;
          return false;
        }
        good = next;
      }
      // Nothing is awaited between the look at the clock and this.
      call.trail.attempts++;
      leave();
      return true;
    },
  };
}

/** What the upstream itself refused with 429 is told to all. Never rejects. */
export function blockAfter(
  budget: Limiter,
  appKey: string,
  limit: string,
  { retryAfterSeconds }: Refusal,
  timeLeft: number,
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = afterTimeout(Math.max(0, Math.min(longestClosingMs, timeLeft)), resolve);
    const told = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
    budget
      .block(appKey, limit, told)
      .catch(() => {})
      .finally(() => {
        cancel();
        resolve();
      });
  });
}

async function permission(budget: Limiter, call: AttemptCall): Promise<Permit | Refusal> {
  const { appKey, limits, timeLeft, clock, trail } = call;
  const asked = clock();
  const waitMs = Math.max(0, Math.min(longestWaitMs, timeLeft() - leastAttemptMs - signingMs));
  const priority = trail.priority && { priority: trail.priority };
  const answer = await budget.acquire({ appKey, limits, waitMs, ...priority });
  trail.waitedMs = (trail.waitedMs ?? 0) + clock() - asked;
  if (!answer.ok) return refused(call, answer);
  return timeLeft() < leastAttemptMs ? outOfTime : answer.permit;
}

const tooSlow = { reason: 'exhausted', retryAfterMs: 1000 } as const;

const details = {
  exhausted: 'The upstream’s request limit, which all clients share, is used up for now',
  blocked: 'The upstream has just refused a request above its limit, which all clients share',
  store_busy:
    'More requests come at once than the gateway can count against the upstream’s request limit, which all clients share, and it sends none that it has not counted',
  store_unavailable:
    'The gateway cannot see how much of the upstream’s request limit, which all clients share, is used, and sends nothing beyond what is set aside for that',
};

/** What the budget's own refusal is to a client. */
export function refused(
  { trail }: { readonly trail: Pick<AttemptCall['trail'], 'attempts'> },
  { reason, retryAfterMs }: { readonly reason: keyof typeof details; readonly retryAfterMs: number },
): Refusal {
  // Of a second attempt that cannot be said; only a read has one.
  const notSent = trail.attempts === 0 ? ' The request was not sent.' : '';
  return {
    code: 'budget_used_up',
    detail: `${details[reason]}; nothing is wrong with this key.${notSent}`,
    retryAfterSeconds: retryAfterMs / 1000,
  };
}
