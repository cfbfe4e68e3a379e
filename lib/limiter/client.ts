/** One app key's budget in one instance: who waits, when the store is asked, and what to do when it fails. */

import type { FallbackLimiter } from './fallback.ts';
import { createPermit, type Permit, type Validity } from './permit.ts';
import { allPriorities, type Priority } from './priorities.ts';
import type { LimiterReport } from './report.ts';
import { StoreThrottled } from './store.ts';
import { createStoreClient, type GrantAnswer, type StoreClientOptions } from './store-client.ts';
import {
  type RefusalReason,
  refuseThose,
  refuseUntil,
  refuseWithoutStore,
  serve,
  type WaitQueue,
} from './wait-queue.ts';

export interface PermitRequest {
  readonly limits: readonly [string, ...string[]];
  readonly priority: Priority;
  readonly waitMs: number;
}

export type PermitAnswer =
  | { readonly ok: true; readonly permit: Permit }
  /** `retryAfterMs`: before that, asking is of no use. */
  | { readonly ok: false; readonly reason: RefusalReason; readonly retryAfterMs: number };

export interface LimiterClientOptions extends StoreClientOptions {
  /** Absent where nothing is set aside. */
  readonly reserve?: FallbackLimiter | undefined;
  readonly report: (report: LimiterReport) => void;
}

export interface LimiterClient {
  ask(wanted: PermitRequest): Promise<PermitAnswer>;
  close(limit: string, until: number): Promise<void>;
}

const firstPauseMs = 100;
/** The store is tried at least so often while there are requests: a thousand instances are 500 tries a second. */
const longestPauseMs = { store_busy: 2500, store_unavailable: 5000 } as const;
/** One instance's batch; whoever else waits comes next. */
const mostAtOnce = 32;

export function createLimiterClient(options: LimiterClientOptions): LimiterClient {
  const { time, after, random, reserve, report } = options;
  const ledger = createStoreClient(options);
  const lines = new Map<string, WaitQueue>();
  const closedUntil = new Map<string, number>();
  let storeNotBefore = 0;
  let storePause = 0;
  /** Why the store is left alone until `storeNotBefore`, and what its last answer was. */
  let trouble: 'store_busy' | 'store_unavailable' | undefined;
  let busy = false;
  let wake: { readonly at: number; readonly cancel: () => void } | undefined;

  const ownTime = () => time.now() - time.ahead;
  const isClosed = (limits: readonly string[]) =>
    limits.some((name) => (closedUntil.get(name) ?? 0) > time.now());

  function lineOf({ limits, priority }: PermitRequest): WaitQueue {
    const name = [priority, ...limits].join(' ');
    const line = lines.get(name) ?? {
      limits,
      priority,
      waiters: [],
      notBefore: 0,
      reason: 'exhausted',
      spread: 0,
      turnedAway: 0,
    };
    lines.set(name, line);
    return line;
  }

  /** Asks the store for one line after the other, the most urgent first, and once at a time. */
  async function pump(): Promise<void> {
    if (busy) return;
    busy = true;
    try {
      for (let line = nextLine(); line; line = nextLine()) await askFor(line);
    } finally {
      busy = false;
      sleep();
    }
  }

  function nextLine(): WaitQueue | undefined {
    const now = time.now();
    if (storeNotBefore > now) {
      for (const line of lines.values()) withoutStore(line, now);
      return undefined;
    }
    const ready = [...lines.values()].filter((line) => line.waiters.length > 0 && line.notBefore <= now);
    return ready.sort((a, b) => allPriorities.indexOf(a.priority) - allPriorities.indexOf(b.priority))[0];
  }

  async function askFor(line: WaitQueue): Promise<void> {
    refuseThose(line, (deadline) => deadline < time.now(), trouble ?? line.reason, time.now);
    if (line.waiters.length === 0) return;
    const { limits, priority, waiters } = line;
    const drawn = await ledger.draw({
      limits,
      priority,
      count: Math.min(waiters.length, mostAtOnce),
      latest: () => Math.max(...waiters.map(({ deadline }) => deadline)),
    });
    const now = time.now();
    if (drawn.kind === 'busy' || drawn.kind === 'failed') return storeFailed(drawn, now);
    if (trouble) report({ kind: 'store_recovered' });
    trouble = undefined;
    // One answer between refusals does not say that there is room for more.
    storePause /= 4;
    if (drawn.kind === 'granted') serve(line, drawn.slots, drawn.left, now);
    else refuseUntil(line, { ...drawn, reason: drawn.closed ? 'blocked' : 'exhausted' }, now, random);
  }

  function storeFailed(
    { kind, cause }: GrantAnswer & { readonly kind: 'busy' | 'failed' },
    now: number,
  ): void {
    trouble = kind === 'busy' ? 'store_busy' : 'store_unavailable';
    report({ kind: kind === 'busy' ? 'store_busy' : 'store_unavailable', cause });
    storePause = Math.min(longestPauseMs[trouble], Math.max(firstPauseMs, storePause * 2));
    storeNotBefore = now + storePause * (0.5 + random() / 2);
  }

  /** While the store is left alone: the instance's own share, or waiting until the store is asked again. */
  function withoutStore(line: WaitQueue, now: number): void {
    // A store that is busy is there: what is set aside is for when it is not.
    const share = trouble === 'store_unavailable' ? reserve : undefined;
    while (line.waiters.length > 0 && !isClosed(line.limits) && share?.take(line.limits, now)) {
      const [waiter, ...others] = line.waiters;
      line.waiters = others;
      waiter?.give({ validFrom: now, expiresAt: now + options.lifeMs }, 0);
    }
    const shareAt = share?.nextAt(line.limits, now) ?? Number.POSITIVE_INFINITY;
    const reason = trouble ?? line.reason;
    refuseWithoutStore(line, { askedAgain: storeNotBefore, shareAt, reason }, now, random);
  }

  /** Until a line may be asked for again. */
  function sleep(): void {
    const times = [...lines.values()].flatMap((line) =>
      line.waiters.length > 0 ? [Math.max(line.notBefore, storeNotBefore)] : [],
    );
    const at = Math.min(...times);
    if (wake && wake.at <= at) return;
    wake?.cancel();
    wake = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const cancel = after(Math.max(1, Math.ceil(at - time.now())), () => {
      wake = undefined;
      void pump();
    });
    wake = { at, cancel };
  }

  return {
    ask(wanted) {
      const { limits, priority, waitMs } = wanted;
      const line = lineOf(wanted);
      const asked = ownTime();
      const waiting = {
        // How long somebody waits is a matter of our own clock.
        get deadline() {
          return asked + waitMs + time.ahead;
        },
      };
      return new Promise((resolve) => {
        const refuse = (reason: RefusalReason, notBefore: number) => {
          const retryAfterMs = Math.max(1, notBefore - time.now());
          report({ kind: 'refused', priority, reason, waitedMs: ownTime() - asked, retryAfterMs });
          resolve({ ok: false, reason, retryAfterMs });
        };
        const give = (slot: Validity, left: number) =>
          atTime(slot.validFrom, () => {
            report({ kind: 'granted', priority, waitedMs: ownTime() - asked, remaining: left });
            const ending = {
              isClosed: () => isClosed(limits),
              onExpired: () => report({ kind: 'expired', priority }),
            };
            resolve({ ok: true, permit: createPermit(slot, time.now, ending) });
          });
        if (line.notBefore > waiting.deadline) {
          line.turnedAway++;
          return refuse(line.reason, line.notBefore);
        }
        line.waiters.push(Object.assign(waiting, { give, refuse }));
        void pump();
      });
    },
    async close(limit, until) {
      closedUntil.set(limit, Math.max(closedUntil.get(limit) ?? 0, until));
      report({ kind: 'blocked', limit, until });
      try {
        await ledger.close(limit, until);
      } catch (cause) {
        report({ kind: cause instanceof StoreThrottled ? 'store_busy' : 'store_unavailable', cause });
      }
    },
  };

  /** Timers may be early by a hair; a permission never is. */
  function atTime(from: number, run: () => void): void {
    const early = from - time.now();
    if (early <= 0) run();
    else after(Math.max(1, Math.ceil(early)), () => atTime(from, run));
  }
}
