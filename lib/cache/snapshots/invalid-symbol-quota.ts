/**
 * A quota of invalid symbols for each caller. Each symbol that does not exist costs calls that would have kept other
 * callers' entries fresh. A caller's level rises with each failed probe, up to `failuresPerCaller`, and
 * `forgivenPerMinute` of it are forgiven each minute. A caller that brings many valid symbols, as all callers do at
 * first, may fail more often. Only what stands in the refresh log counts, so that all instances count the same;
 * later records repeat the levels for an instance that came too late to read the earlier ones.
 */

import { minuteMs, type SnapshotOptions } from './options.ts';
import type { QuotaLevel, RefreshFlight, RefreshRecord } from './store.ts';

/** A failed probe is made up for by four valid symbols: at that rate it harms no other caller. */
const failedPerValid = 0.25;
/** How much credit a caller may save up that way, as a part of its quota. */
const maxCredit = 1 / 4;
/** Callers whose levels one record repeats. */
const maxLevels = 20;
const riskyPart = 1 / 3;
/** Where a directory says which symbols exist, few probes of others are needed: four at once, and three in two minutes. */
const unlistedProbeCost = 8;

type QuotaOptions = Pick<SnapshotOptions, 'failuresPerCaller' | 'forgivenPerMinute'>;
type Probe = Pick<RefreshFlight, 'isUnlistedProbe'>;

const costOf = ({ isUnlistedProbe }: Probe) => (isUnlistedProbe ? unlistedProbeCost : 1);

export class InvalidSymbolQuota {
  readonly #options: QuotaOptions;
  readonly #levels = new Map<string, { level: number; at: number }>();

  constructor(options: QuotaOptions) {
    this.#options = options;
  }

  /** @param isExempt whether a failure in it is not charged to the caller */
  apply(record: RefreshRecord, isExempt = false): void {
    const { kind, caller, outcome, sentAt, failedProbes = [] } = record;
    this.merge(failedProbes, sentAt);
    if (kind !== 'probe' || caller === undefined || isExempt) return;
    const isAnswer = outcome.kind === 'answer';
    const hasFailed =
      outcome.kind === 'rejected' || outcome.kind === 'failed' || (isAnswer && outcome.unknown.length > 0);
    const failed = hasFailed ? costOf(record) : 0;
    const valid = isAnswer ? outcome.records.size : 0;
    const at = Math.max(sentAt, this.#levels.get(caller)?.at ?? 0);
    this.#set(caller, this.#levelOf(caller, at) + failed - valid * failedPerValid, at);
  }

  /** Takes over levels that another instance wrote. */
  merge(levels: readonly QuotaLevel[], at: number): void {
    for (const [caller, level] of levels)
      if (level > this.#levelOf(caller, at))
        this.#set(caller, level, Math.max(at, this.#levels.get(caller)?.at ?? 0));
  }

  /**
   * Whether no more of the caller's symbols are probed for now.
   *
   * @param underWay the caller's probes without an outcome yet: each may fail
   */
  isOver(caller: string, now: number, underWay: readonly Probe[] = []): boolean {
    const level = underWay.reduce((sum, probe) => sum + costOf(probe), this.#levelOf(caller, now));
    return level > this.#options.failuresPerCaller - 1;
  }

  /** Whether so many failed that one request of the caller should not pay for another. */
  isRisky(caller: string, now: number): boolean {
    return this.#levelOf(caller, now) > this.#options.failuresPerCaller * riskyPart;
  }

  /** The highest levels, for the next record. */
  levels(now: number): readonly QuotaLevel[] {
    const levels: QuotaLevel[] = [];
    for (const caller of this.#levels.keys()) {
      const level = Math.round(this.#levelOf(caller, now) * 100) / 100;
      if (level === 0) this.#levels.delete(caller);
      else if (level > 0) levels.push([caller, level]);
    }
    return levels.sort(([, a], [, b]) => b - a).slice(0, maxLevels);
  }

  /** Both debts and credits are forgiven with time. */
  #levelOf(caller: string, now: number): number {
    const { level, at } = this.#levels.get(caller) ?? { level: 0, at: now };
    const forgiven = (Math.max(0, now - at) / minuteMs) * this.#options.forgivenPerMinute;
    return Math.sign(level) * Math.max(0, Math.abs(level) - forgiven);
  }

  #set(caller: string, level: number, at: number): void {
    const least = -maxCredit * this.#options.failuresPerCaller;
    this.#levels.set(caller, { level: Math.max(least, level), at });
  }
}
