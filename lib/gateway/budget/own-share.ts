/**
 * What one instance may use when it cannot reach the store. The limit is kept because of two rules, each
 * with M, the number of instances that the deployer says there are at most:
 *
 * 1. A part of the limit may be set aside for this and is never in the store: from the first failure on,
 *    each instance has a M-th of that part in any window. It holds whatever fails, for one or for all.
 * 2. After a whole window of nothing but failures all that the store had given is out of every window, and
 *    if nobody reaches it, nobody else gets anything: then each has a M-th of `lastingShare` of the limit.
 *    Whoever reaches the store again first counts all of it as given, on behalf of everybody.
 *
 * Should the second hold for a few instances only, while others reach the store, what they use is beyond
 * the budget: one or two of them are covered by the permissions held back, more need the first rule.
 */

import type { Figures } from './figures.ts';

export interface OwnShareOptions {
  /** M. Default 50. */
  readonly instances?: number;
  /** The part of each limit that is set aside, 0 … 1. Default 0: utilisation comes first. */
  readonly setAside?: number;
}

export interface OwnShare {
  failed(now: number): void;
  worked(): void;
  /** Takes one from each of the limits, or none. */
  take(limits: readonly string[], now: number): boolean;
  /** When the next one comes, as far as can be said. */
  nextAt(limits: readonly string[], now: number): number;
  /** When it last gave something that the store has to hear of; 0 when it has heard. */
  readonly owedSince: number;
  settled(): void;
}

const lastingShare = 1 / 2;
/** With a longer pause between two failures nobody knows what was in between. */
const longestPauseMs = 10_000;

/** What all instances together may have used of a limit by the second rule. */
export const lastingOf = ({ capacity }: Figures): number => Math.floor(capacity * lastingShare);

export function createOwnShare(
  figures: ReadonlyMap<string, Figures>,
  { instances = 50 }: OwnShareOptions,
): OwnShare {
  let failingSince: number | undefined;
  let lastFailure = 0;
  let owedSince = 0;
  const given = new Map<string, number[]>([...figures.keys()].map((name) => [name, []]));

  const isLasting = (now: number, { windowMs }: Figures) =>
    failingSince !== undefined && now - failingSince >= windowMs + longestPauseMs;
  const shareOf = (name: string, now: number): number => {
    const figure = figures.get(name);
    if (!figure || failingSince === undefined) return 0;
    const atOnce = Math.floor(figure.setAside / instances);
    return isLasting(now, figure) ? atOnce + Math.floor(lastingOf(figure) / instances) : atOnce;
  };
  const recent = (name: string, now: number): readonly number[] => {
    const times = given.get(name) ?? [];
    const start = now - (figures.get(name)?.windowMs ?? 0);
    while (times.length > 0 && times[0]! <= start) times.shift();
    return times;
  };

  return {
    failed(now) {
      if (failingSince === undefined || now - lastFailure > longestPauseMs) failingSince = now;
      lastFailure = now;
    },
    worked() {
      failingSince = undefined;
    },
    take(limits, now) {
      if (!limits.every((name) => recent(name, now).length < shareOf(name, now))) return false;
      for (const name of limits) given.get(name)?.push(now);
      const [outer = ''] = limits;
      const figure = figures.get(outer);
      if (figure && isLasting(now, figure)) owedSince = now;
      return true;
    },
    nextAt(limits, now) {
      const times = limits.map((name) => {
        const figure = figures.get(name);
        if (!figure || failingSince === undefined) return now;
        if (shareOf(name, now) > 0) return (recent(name, now)[0] ?? now - figure.windowMs) + figure.windowMs;
        return failingSince + figure.windowMs + longestPauseMs;
      });
      return Math.max(now, ...times);
    },
    get owedSince() {
      return owedSince;
    },
    settled() {
      owedSince = 0;
    },
  };
}
