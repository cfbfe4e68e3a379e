/** Counters of the upstream's limits. A request counts against each of its limits, or is refused and counts against none. */

import type { RequestLimit } from '../../lib/catalogue/index.ts';
import {
  endpointCounterOf,
  endpointLimitsOf,
  type LimitName,
  limitPresets,
  limits,
  type UpstreamLimits,
} from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';

export type Window = Pick<RequestLimit, 'requests' | 'perSeconds'>;

/** Request limit as a sliding log: any window of its length admits at most so many requests. */
export class SlidingLog {
  readonly #window: Window;
  /** Arrival times of the admitted requests, Unix milliseconds, oldest first. */
  readonly #admitted: number[] = [];

  constructor(window: Window) {
    this.#window = window;
  }

  hasRoom(now: number): boolean {
    const start = now - this.#window.perSeconds * 1000;
    while (this.#admitted.length > 0 && this.#admitted[0]! <= start) this.#admitted.shift();
    return this.#admitted.length < this.#window.requests;
  }

  count(now: number): void {
    this.#admitted.push(now);
  }

  /** Arrival times of the requests that count now. */
  counted(now: number): readonly number[] {
    this.hasRoom(now);
    return [...this.#admitted];
  }
}

interface RequestCountersOptions {
  /** Figures that replace those of the catalogue's limits. */
  readonly limits?: Partial<Record<LimitName, Window>> | undefined;
  /** Limits for each endpoint besides; none by default. */
  readonly upstreamLimits?: UpstreamLimits | undefined;
}

/**
 * Counts for all app keys together: the interface does not show the scope of its counting, and this is the strictest
 * reading. The market-data stream's two operations also have the vendor's figures, by app key and under every preset.
 */
export class RequestCounters {
  readonly #options: RequestCountersOptions;
  readonly #logs = new Map<string, SlidingLog>();

  constructor(options: RequestCountersOptions = {}) {
    this.#options = options;
  }

  admit(operation: Operation, now: number, appKey = ''): boolean {
    const logs = this.#logsOf(operation, appKey);
    if (!logs.every((log) => log.hasRoom(now))) return false;
    for (const log of logs) log.count(now);
    return true;
  }

  /** Arrival times, in Unix milliseconds, of the requests that count against the limit now; empty if none ever came. */
  counted(limit: LimitName, now: number): readonly number[] {
    return this.#logs.get(limit)?.counted(now) ?? [];
  }

  #logsOf(operation: Operation, appKey: string): readonly SlidingLog[] {
    const { limits: own, upstreamLimits } = this.#options;
    const { limit, group } = operation;
    const isOfStream = group === 'market-stream';
    const endpoints = {
      ...(isOfStream && limitPresets.published),
      ...endpointLimitsOf(upstreamLimits),
    };
    const counter = endpointCounterOf(operation, endpoints);
    const instruments = limit === 'instruments' ? endpoints.instruments : undefined;
    return [
      ...(limit ? [this.#log(limit, own?.[limit] ?? instruments ?? limits[limit])] : []),
      ...(counter ? [this.#log(isOfStream ? `${counter.name} ${appKey}` : counter.name, counter)] : []),
    ];
  }

  #log(name: string, window: Window): SlidingLog {
    const log = this.#logs.get(name) ?? new SlidingLog(window);
    this.#logs.set(name, log);
    return log;
  }
}
