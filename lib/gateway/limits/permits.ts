/** Acquires the limiter's permits for an attempt: a request leaves only with a permit that is valid at that moment. */

import type { Limiter, Permit, PermitAnswer, RefusalReason } from '../../limiter/index.ts';
import { isRefusal, notSent, type Refusal } from '../../problem.ts';
import type { RequestContext, UpstreamUsage } from '../context.ts';
import type { LetGo } from '../send.ts';

/** Least time that must be left before the platform stops waiting; with less, no attempt begins. */
export const minAttemptMs = 1000;

export const outOfTime: Refusal = {
  code: 'gateway_timeout',
  detail: `The gateway ran out of time before the request could be sent. ${notSent}`,
};

interface AttemptCall {
  readonly appKey: string;
  readonly limits: readonly [string, ...string[]];
  /** The user's name for the limiter's shares; undefined when the attempt counts against no share. */
  readonly user: string | undefined;
  readonly clock: () => number;
  readonly context: Pick<RequestContext, 'deadline' | 'leaveBy' | 'usage' | 'priority'>;
  /** Longest wait for a permit. Default 2 s. */
  readonly waitMs?: number;
}

/** The permit of one attempt, replaced when it expires before the request leaves. */
export interface AttemptPermit {
  readonly letGo: LetGo;
  /** Why `letGo` did not let the request leave. */
  readonly refusal: Refusal | undefined;
}

/** Longest wait for a permit: longer ones help few requests, and each occupies an instance. */
const maxWaitMs = 2000;
/** Time reserved between the permit and the start of the attempt, for signing. */
const signingMs = 100;
/** How often an expired permit is replaced: its life is short, and a new connection may take longer. */
const maxReplacements = 2;

/**
 * Waits for a permit, but leaves enough time for the attempt.
 *
 * @param held a permit that the attempt has already
 */
export async function acquireForAttempt(
  limiter: Limiter,
  call: AttemptCall,
  held?: Permit,
): Promise<AttemptPermit | Refusal> {
  const first = held ?? (await acquire(limiter, call));
  if (isRefusal(first)) return first;
  let permit = first;
  let refusal: Refusal | undefined;
  return {
    get refusal() {
      return refusal;
    },
    async letGo(leave) {
      for (let replaced = 0; !permit.consume(); replaced++) {
        const next =
          replaced < maxReplacements
            ? await acquire(limiter, call)
            : limiterRefusal(call.context.usage, tooSlow);
        if (isRefusal(next)) {
          refusal = next;
          return false;
        }
        permit = next;
      }
      if (timeToLeave(call) <= 0) {
        refusal = outOfTime;
        return false;
      }
      // No `await` may stand between the checks and `leave`: the permit could expire in between.
      call.context.usage.attempts++;
      leave();
      return true;
    },
  };
}

/** Time until an attempt may not leave any more, in milliseconds. */
export const timeToLeave = ({ context, clock }: Pick<AttemptCall, 'context' | 'clock'>): number =>
  (context.leaveBy ?? context.deadline) - clock();

async function acquire(limiter: Limiter, call: AttemptCall): Promise<Permit | Refusal> {
  const { appKey, limits, user, clock, context, waitMs: longest = maxWaitMs } = call;
  const { usage } = context;
  const timeLeft = () => Math.min(context.deadline - clock(), timeToLeave(call) + minAttemptMs);
  const started = clock();
  const waitMs = Math.max(0, Math.min(longest, timeLeft() - minAttemptMs - signingMs));
  const priority = context.priority && { priority: context.priority };
  const answer = await limiter.acquire({
    appKey,
    limits,
    waitMs,
    ...priority,
    ...(user !== undefined && { user }),
  });
  usage.waitedMs = (usage.waitedMs ?? 0) + clock() - started;
  if (!answer.ok) return limiterRefusal(usage, answer);
  return timeLeft() < minAttemptMs ? outOfTime : answer.permit;
}

const tooSlow = { reason: 'exhausted', retryAfterMs: 1000 } as const;

const details: Readonly<Record<RefusalReason, string>> = {
  exhausted: 'The upstream’s request limit, which all clients share, is used up for now',
  share_exhausted:
    'This user’s share of the upstream’s request limit is used up for now: as much is left for other users',
  blocked: 'The upstream has just refused a request above its limit, which all clients share',
  store_busy:
    'More requests come at once than the gateway can count against the upstream’s request limit, which all clients share, and it sends none that it has not counted',
  store_unavailable:
    'The gateway cannot see how much of the upstream’s request limit, which all clients share, is used, and sends nothing beyond what is set aside for that',
};

/** The limiter's refusal as the client's refusal. */
export function limiterRefusal(
  { attempts }: Pick<UpstreamUsage, 'attempts'>,
  { reason, retryAfterMs, usedUp }: Omit<Extract<PermitAnswer, { ok: false }>, 'ok'>,
): Refusal {
  // After a first attempt "not sent" would be false; only a read has a second attempt.
  const hadNoEffect = attempts === 0 ? ` ${notSent}` : '';
  return {
    code: 'budget_used_up',
    detail: `${details[reason]}; nothing is wrong with this key.${hadNoEffect}`,
    retryAfterSeconds: retryAfterMs / 1000,
    usedUp,
    ...(reason === 'share_exhausted' && { isOwnShare: true as const }),
    ...(reason === 'blocked' && { cause: 'limit_tighter' as const }),
  };
}
