/**
 * Who brings symbols that do not exist. Each such symbol costs calls that would have kept the quotes of all
 * others fresh, so that a caller has an account of tests that failed: it may stand at `failuresPerCaller`,
 * and some are forgiven each minute. Whoever brings many that exist, as everybody does at first, may be wrong
 * more often. Only what stands in the journal counts, so that all instances count the same; what an instance
 * came too late to read, the later entries tell again.
 */

import { minuteMs, type SnapshotOptions } from './options.ts';
import type { Flight, RefreshRecord } from './store.ts';

export interface InvalidSymbolQuota {
  /** @param isOfNobody whether what failed in it is not the caller's fault */
  learn(entry: RefreshRecord, isOfNobody?: boolean): void;
  /** Takes in accounts that another instance told of. */
  hear(told: NonNullable<RefreshRecord['failedTests']>, at: number): void;
  /**
   * Whether a caller may have no more symbols tested for now.
   *
   * @param underWay tests of the caller's of which nothing is known yet: each may fail
   */
  isSpent(caller: string, now: number, underWay?: readonly Pick<Flight, 'isProbe'>[]): boolean;
  /** Whether so many failed that one request of the caller's should not pay for another. */
  isSuspect(caller: string, now: number): boolean;
  /** The accounts that an entry tells of. */
  tell(now: number): NonNullable<RefreshRecord['failedTests']>;
}

/** For four symbols that are new and exist, one test may fail without harm to whoever asks. */
const failedPerProved = 0.25;
/** How much may be saved up that way, as a part of what an account may stand at. */
const mostMerit = 1 / 4;
const mostTold = 20;
const suspectPart = 1 / 3;
/** Where a directory says which symbols exist, few probes are needed: four at once, and three in two minutes. */
const probeCost = 8;
const costOf = ({ isProbe }: { readonly isProbe?: true | undefined }) => (isProbe ? probeCost : 1);

type JunkFigures = Pick<SnapshotOptions, 'failuresPerCaller' | 'forgivenPerMinute'>;

export function createInvalidSymbolQuota({
  failuresPerCaller,
  forgivenPerMinute,
}: JunkFigures): InvalidSymbolQuota {
  const accounts = new Map<string, { level: number; at: number }>();

  /** Both debts and merits fade. */
  function faded(level: number, since: number): number {
    const back = (Math.max(0, since) / minuteMs) * forgivenPerMinute;
    return Math.sign(level) * Math.max(0, Math.abs(level) - back);
  }

  function levelOf(caller: string, now: number): number {
    const account = accounts.get(caller);
    return account ? faded(account.level, now - account.at) : 0;
  }

  function set(caller: string, level: number, at: number): void {
    accounts.set(caller, { level: Math.max(-mostMerit * failuresPerCaller, level), at });
  }

  function hear(told: NonNullable<RefreshRecord['failedTests']>, at: number): void {
    for (const [caller, level] of told)
      if (level > levelOf(caller, at)) set(caller, level, Math.max(at, accounts.get(caller)?.at ?? 0));
  }

  return {
    hear,
    learn({ kind, caller, outcome, sentAt, isProbe, failedTests = [] }, isOfNobody = false) {
      hear(failedTests, sentAt);
      if (kind !== 'test' || caller === undefined || isOfNobody) return;
      const isAnswer = outcome.kind === 'answer';
      const failed =
        outcome.kind === 'rejected' || (isAnswer && outcome.unknown.length > 0)
          ? isProbe
            ? probeCost
            : 1
          : 0;
      const proved = isAnswer ? outcome.records.size : 0;
      const at = Math.max(sentAt, accounts.get(caller)?.at ?? 0);
      set(caller, levelOf(caller, at) + failed - proved * failedPerProved, at);
    },
    isSpent: (caller, now, underWay = []) =>
      underWay.reduce((level, test) => level + costOf(test), levelOf(caller, now)) > failuresPerCaller - 1,
    isSuspect: (caller, now) => levelOf(caller, now) > failuresPerCaller * suspectPart,
    tell(now) {
      const levels: (readonly [caller: string, level: number])[] = [];
      for (const caller of accounts.keys()) {
        const level = Math.round(levelOf(caller, now) * 100) / 100;
        if (level === 0) accounts.delete(caller);
        else if (level > 0) levels.push([caller, level]);
      }
      return levels.sort(([, a], [, b]) => b - a).slice(0, mostTold);
    },
  };
}
