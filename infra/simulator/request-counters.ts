/** All counters of the upstream's limits: a request counts against each of its own, or is refused and against none. */

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

/** A request limit as a sliding log: in any window of its length at most so many requests are admitted. */
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

  /** When each request came that counts now. */
  counted(now: number): readonly number[] {
    this.hasRoom(now);
    return [...this.#admitted];
  }
}

export interface RequestCountersOptions {
  /** Other figures for the catalogue's limits. */
  readonly limits?: Partial<Record<LimitName, Window>> | undefined;
  /** What each endpoint is allowed besides; nothing by default. */
  readonly upstreamLimits?: UpstreamLimits | undefined;
}

/**
 * For all app keys together: the interface does not show the scope of the counting, and this is the strictest reading. The
 * two operations of the market-data stream have the vendor's figures besides, for each app key and under every preset.
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

  /** When each request came that counts against the limit now, Unix milliseconds; none where it was never asked for. */
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
