/**
 * The arithmetic of a limit. A permission is given at one moment and arrives at another:
 *
 *     |clock − true time| ≤ o      sent within V of its time      on the way for 0 … n
 *
 * so a permission of time s arrives between s − o and s + V + o + n, and two whose times are W apart arrive
 * `perSeconds` apart when **W ≥ perSeconds + 2·o + V + n**. A window of W in the store with N permissions in
 * it keeps every true window at N. With o = n = 500 ms, V = 250 ms: W = 61.75 s, and N = 298 of 300 make
 * 289.5 a minute, 96.5 % of the limit. The 2 that are held back are for what no check can see: an instance
 * frozen between its last look at the clock and the socket. (Evenly spaced, a true minute holds 290, so that
 * 10 more are free except after a burst.)
 */

import type { RequestLimit } from '../catalogue/limits.ts';
import { floorAheadMs } from './priorities.ts';

export interface Limit extends Pick<RequestLimit, 'requests' | 'perSeconds'> {
  /** The part of the limit that is ours, when others use the same app key. Default 1. */
  readonly share?: number;
  /**
   * The wider limit that a request of this one counts against too. The wider one has the queue; this one
   * counts up to a few seconds late, and so gives about 92 % of what it allows.
   */
  readonly within?: string;
}

/** What is assumed of the world. */
export interface Margins {
  /** How far an instance's clock is from the true time at most, either way. Default 500 ms. */
  readonly clockOffsetMs?: number;
  /** From the last check to the arrival at the upstream, at most. Default 500 ms. */
  readonly networkMs?: number;
  /** How long a permission lives. Default 250 ms. */
  readonly permitLifeMs?: number;
  /** The part of a limit that is never given. Default 1/150, rounded up, of what can be spared. */
  readonly heldBack?: number;
}

export interface LimitWindow {
  /** N: how many permissions the window holds. */
  readonly capacity: number;
  /** W, in milliseconds. */
  readonly windowMs: number;
  /** The even distance of permissions, in milliseconds: W / N. */
  readonly stepMs: number;
  /** How much unused pace may be made up for while demand lasts. */
  readonly burst: number;
  /** Set aside for instances that cannot reach the store; not part of N. */
  readonly reserve: number;
}

/** What clocks that count in whole milliseconds are off by. */
const roundingMs = 2;

export const permitLifeOf = ({ permitLifeMs = 250 }: Margins): number => permitLifeMs;

/**
 * @param reserve the part of the limit that instances without a store may use at once
 * @throws RangeError when nothing is left to give
 */
export function windowOf(limit: Limit, margins: Margins, reserve: number): LimitWindow {
  const { requests, perSeconds, share = 1, within } = limit;
  const { clockOffsetMs = 500, networkMs = 500, heldBack = 1 / 150 } = margins;
  const ours = Math.floor(requests * share);
  const aside = Math.floor(ours * reserve);
  const held = Math.min(Math.ceil(ours * heldBack), Math.max(0, ours - aside - 1));
  const capacity = ours - aside - held;
  if (!(capacity >= 1 && perSeconds > 0 && share > 0 && share <= 1))
    throw new RangeError(`${requests} in ${perSeconds} s, share ${share}: no permission is left to give.`);
  // What is taken of a narrower limit now may be sent as late as the wider one's queue is long.
  const laterMs = within === undefined ? 0 : floorAheadMs;
  const windowMs =
    perSeconds * 1000 + 2 * clockOffsetMs + permitLifeOf(margins) + networkMs + roundingMs + laterMs;
  return {
    capacity,
    windowMs,
    stepMs: windowMs / capacity,
    burst: Math.max(1, Math.round(capacity / 10)),
    reserve: aside,
  };
}
