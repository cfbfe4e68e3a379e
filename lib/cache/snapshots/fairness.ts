/**
 * Bounds how much one caller takes from the others. A quota of invalid symbols bounds its failed probes; a share of demand
 * bounds how often the symbols that it asks for are refreshed.
 */

import { putLatest } from '../../kernel/bounded-map.ts';
import { minuteMs, type SnapshotOptions } from './ports.ts';
import type { QuotaLevel, RefreshFlight, RefreshRecord } from './store.ts';

/** How many of a caller's probes may fail at once: after a cold start those of all callers do. */
const failuresPerCaller = 30;
/** A failed probe is made up for by four valid symbols: at that rate it harms no other caller. */
const failedPerValid = 0.25;
/** Upper bound of the credit that valid symbols earn a caller, as a part of its quota. */
const maxCredit = 1 / 4;
/** The number of callers whose levels one record repeats. */
const maxLevels = 20;
const riskyPart = 1 / 3;
/** Cost of a probe of an unlisted symbol. Few are needed where a directory says which symbols exist: four at once, and three in two minutes. */
const unlistedProbeCost = 8;

type Probe = Pick<RefreshFlight, 'isUnlistedProbe'>;

const costOf = ({ isUnlistedProbe }: Probe) => (isUnlistedProbe ? unlistedProbeCost : 1);

/**
 * Each symbol that does not exist costs calls that would have kept other callers' entries fresh. A caller's level rises
 * with each failed probe, up to `failuresPerCaller`, and `forgivenPerMinute` of it are forgiven each minute. A caller
 * that brings many valid symbols, as all callers do at first, may fail more often. Only outcomes in the refresh log
 * count, so that all instances count the same; later records repeat the levels for an instance that came too late to
 * read the earlier ones.
 */
export class InvalidSymbolQuota {
  readonly #forgivenPerMinute: number;
  readonly #levels = new Map<string, { level: number; at: number }>();

  constructor({ forgivenPerMinute }: Pick<SnapshotOptions, 'forgivenPerMinute'>) {
    this.#forgivenPerMinute = forgivenPerMinute;
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
    return level > failuresPerCaller - 1;
  }

  /** Whether so many probes failed that each request of the caller has probes of its own. */
  isRisky(caller: string, now: number): boolean {
    return this.#levelOf(caller, now) > failuresPerCaller * riskyPart;
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
    const forgiven = (Math.max(0, now - at) / minuteMs) * this.#forgivenPerMinute;
    return Math.sign(level) * Math.max(0, Math.abs(level) - forgiven);
  }

  #set(caller: string, level: number, at: number): void {
    const least = -maxCredit * failuresPerCaller;
    this.#levels.set(caller, { level: Math.max(least, level), at });
  }
}

/** A request that is this old counts a third. */
const forgetMs = 60_000;
/** This many symbols a minute count in full: twenty, each five seconds. A caller that asks for more has the same demand, spread over all of them. */
const fullPerMinute = 240;
/** Callers that are remembered. */
const maxCallers = 2000;

/**
 * How much each request for a symbol counts.
 *
 * @param perMinute symbols that the caller asks for; one that is asked for twice counts twice
 */
export const demandWeight = (perMinute: number): number => Math.min(1, fullPerMinute / perMinute);

/**
 * How much a caller's requests to this instance count as demand. Demand decides which symbols are refreshed and which
 * the market stream carries: if requests alone counted, one caller with hundreds of symbols could take that from all others.
 */
export class DemandShares {
  readonly #asked = new Map<string, { readonly perMinute: number; readonly at: number }>();

  /** How much each symbol of a request counts. */
  weigh(caller: string, symbols: number, now: number): number {
    const last = this.#asked.get(caller);
    const before = last ? last.perMinute * Math.exp(-Math.max(0, now - last.at) / forgetMs) : 0;
    const perMinute = before + symbols;
    putLatest(this.#asked, caller, { perMinute, at: now }, maxCallers);
    return demandWeight(perMinute);
  }
}
