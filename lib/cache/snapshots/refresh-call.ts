/** One call to the upstream: it waits for a permit, sends one request and reads the answer as an outcome. */

import { type BackOff, backOffMs } from '../../kernel/pauses.ts';
import type { Priority } from '../../limiter/index.ts';
import type { SnapshotMemory } from './memory.ts';
import { minuteMs, type SnapshotOptions } from './options.ts';
import type { RefreshPlan } from './plan-refresh.ts';
import type { AskUpstream, RefreshPermits, UpstreamAnswer } from './ports.ts';
import { cutRecords, maxAnsweredRecords } from './records.ts';
import type { RefreshKind, RefreshOutcome } from './store.ts';
import { withoutMessage } from './upstream-error.ts';

/** After a failure of the upstream; the failures in a row count. */
const upstreamBackOff: BackOff = { firstMs: 125, maxMs: 1000 };
const forbiddenMs = 30_000;
/** How long a miss waits for a permit; not so long that no request counts on the call any more. */
const missPermitMs = 800;
/** After a limiter that failed, against its contract. */
const brokenLimiterMs = 1000;

type FailedAnswer = Extract<UpstreamAnswer, { kind: 'failed' }>;

export interface RefreshCallPorts {
  readonly permits: RefreshPermits;
  readonly upstream: AskUpstream;
  readonly clock: () => number;
}

export interface CallTiming {
  readonly deadline: number;
  readonly priority: Priority;
  /** The refresh is this instance's alone, without the store: it does not wait for a permit. */
  readonly isAlone: boolean;
}

export class RefreshCalls {
  readonly #ports: RefreshCallPorts;
  readonly #memory: SnapshotMemory;
  readonly #options: SnapshotOptions;

  constructor(ports: RefreshCallPorts, memory: SnapshotMemory, options: SnapshotOptions) {
    this.#ports = ports;
    this.#memory = memory;
    this.#options = options;
  }

  /** Always resolves: a port that breaks its contract costs the call, and requests are served what is cached. */
  async send(plan: RefreshPlan, timing: CallTiming): Promise<{ sentAt: number; outcome: RefreshOutcome }> {
    const { deadline, priority, isAlone } = timing;
    const { permits, upstream, clock } = this.#ports;
    const maxWaitMs = isAlone ? 0 : this.#permitWaitMs(plan.kind, priority);
    const waitMs = Math.max(0, Math.min(maxWaitMs, deadline - clock()));
    const answer = await permits
      .acquire({ priority, waitMs })
      .catch(() => ({ ok: false, retryAfterMs: brokenLimiterMs, isLocal: true }) as const);
    const sentAt = clock();
    if (!answer.ok) {
      const notBefore = sentAt + Math.min(minuteMs, answer.retryAfterMs);
      const shared = { kind: 'failed', notBefore, upstream: false } as const;
      return { sentAt, outcome: answer.isLocal ? this.#failedHere(notBefore) : shared };
    }
    const timeoutMs = Math.max(1, Math.min(this.#options.upstreamTimeoutMs, deadline - sentAt));
    const { view } = this.#memory.entriesOf(plan.view);
    const { symbols, caller } = plan;
    const answered = await upstream(view, symbols, answer.permit, timeoutMs, caller).catch(
      (): UpstreamAnswer => ({ kind: 'failed' }),
    );
    return { sentAt, outcome: this.#outcomeOf(answered, plan) };
  }

  /**
   * The next refresh is as good as one that is late; what a client waits for is worth more patience. A less urgent
   * call delays no requester that needs the same symbols more urgently.
   */
  #permitWaitMs(kind: RefreshKind, priority: Priority): number {
    return kind === 'refresh' || priority !== 'interactive' ? this.#options.paceMs : missPermitMs;
  }

  #outcomeOf(answer: UpstreamAnswer, plan: RefreshPlan): RefreshOutcome {
    const { symbols } = plan;
    switch (answer.kind) {
      case 'answer': {
        const records = cutRecords(answer.body, maxAnsweredRecords);
        if (!records) return this.#failed({});
        const asked = new Set(symbols);
        return {
          kind: 'answer',
          records: new Map([...records].filter(([symbol]) => asked.has(symbol))),
          unknown: symbols.filter((symbol) => !records.has(symbol)),
        };
      }
      case 'rejected':
        return answer;
      case 'forbidden': {
        const { error, forMs = forbiddenMs } = answer;
        if (answer.mayBeOfSymbols && this.#mayBeOfSymbols(plan))
          return {
            kind: 'rejected',
            error: { ...(symbols.length > 1 ? withoutMessage(error) : error), forMs },
          };
        return { kind: 'forbidden', error, until: this.#ports.clock() + forMs };
      }
      case 'failed':
        return this.#failed(answer);
    }
  }

  /** Not of symbols that the upstream has answered for; and not where it answers for none, or each would be asked for alone. */
  #mayBeOfSymbols({ view, symbols, isUnlistedProbe }: RefreshPlan): boolean {
    const { entries } = this.#memory.entriesOf(view);
    if (symbols.every((symbol) => entries.has(symbol))) return false;
    const since = this.#ports.clock() - minuteMs;
    return isUnlistedProbe === true || [...entries.values()].some(({ fetchedAt }) => fetchedAt > since);
  }

  #failed({ retryAfterMs, isLocal }: Omit<FailedAnswer, 'kind'>): RefreshOutcome {
    const pauseMs = retryAfterMs ?? backOffMs(upstreamBackOff, this.#memory.upstream.failures);
    const notBefore = this.#ports.clock() + Math.min(minuteMs, pauseMs);
    return isLocal ? this.#failedHere(notBefore) : { kind: 'failed', notBefore, upstream: true };
  }

  /** What keeps this instance from asking keeps no other from it. */
  #failedHere(notBefore: number): RefreshOutcome {
    this.#memory.upstream.pauseHere(notBefore);
    return { kind: 'failed', notBefore: this.#ports.clock(), upstream: false };
  }
}
