/** All counters of the upstream's limits: a request counts against each of its own, or is refused and against none. */

import {
  endpointCounterOf,
  endpointLimitsOf,
  type LimitName,
  limits,
  type UpstreamLimits,
} from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { SlidingLog, type Window } from './rate-limit.ts';

export interface RequestCountersOptions {
  /** Other figures for the catalogue's limits. */
  readonly limits?: Partial<Record<LimitName, Window>> | undefined;
  /** What each endpoint is allowed besides; nothing by default. */
  readonly upstreamLimits?: UpstreamLimits | undefined;
}

/**
 * For all app keys together: the interface does not show the scope of the counting, and this is the strictest reading.
 */
export class RequestCounters {
  readonly #options: RequestCountersOptions;
  readonly #logs = new Map<string, SlidingLog>();

  constructor(options: RequestCountersOptions = {}) {
    this.#options = options;
  }

  admit(operation: Operation, now: number): boolean {
    const logs = this.#logsOf(operation);
    if (!logs.every((log) => log.hasRoom(now))) return false;
    for (const log of logs) log.count(now);
    return true;
  }

  #logsOf(operation: Operation): readonly SlidingLog[] {
    const { limits: own, upstreamLimits } = this.#options;
    const endpoints = endpointLimitsOf(upstreamLimits);
    const { limit } = operation;
    const counter = endpointCounterOf(operation, endpoints);
    const instruments = limit === 'instruments' ? endpoints.instruments : undefined;
    return [
      ...(limit ? [this.#log(limit, own?.[limit] ?? instruments ?? limits[limit])] : []),
      ...(counter ? [this.#log(counter.name, counter)] : []),
    ];
  }

  #log(name: string, window: Window): SlidingLog {
    const log = this.#logs.get(name) ?? new SlidingLog(window);
    this.#logs.set(name, log);
    return log;
  }
}
