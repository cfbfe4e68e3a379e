/**
 * The arithmetic of a limit, and the priorities of the requests that share it. A permit is granted at one
 * moment and its request arrives at the upstream at another:
 *
 *     |clock − true time| ≤ o      sent within V of the permit's time      on the way for 0 … n
 *
 * so the request of a permit of time s arrives between s − o and s + V + o + n, and two requests whose permits
 * are W apart arrive `perSeconds` apart when **W ≥ perSeconds + 2·o + V + n**. A window of W in the store with
 * N permits in it keeps every true window at N. With o = n = 500 ms and V = 250 ms, W is 61.75 s, and N = 298
 * of 300 make 289.5 a minute, 96.5 % of the limit. The 2 that are held back cover what no check can see: an
 * instance that freezes between its last look at the clock and the socket. (At an even pace a true minute
 * holds 290, so that 10 more are free except after a burst.)
 *
 * Of a small limit one request is much: of 2 in 2 s it would leave 1 in 3.75 s. There W is a second longer instead, so that
 * every request may be on its way for n + 1 s: as long as after two lost packets. That leaves 2 in 4.75 s.
 */

/** One limit of the upstream, as its documentation states it. */
export interface Limit {
  /** How many requests the upstream accepts in any window of `perSeconds`. */
  readonly requests: number;
  /** The length of the upstream's window, in seconds. */
  readonly perSeconds: number;
  /** The part of the limit that this limiter may use, when others use the same app key. Default 1. */
  readonly share?: number;
  /**
   * The name of the wider limit that a request of this one counts against too. Only the wider one has a
   * queue; this one counts up to 3 seconds late, and so grants about 92 % of what it allows.
   */
  readonly within?: string;
}

/** What the limiter assumes of clocks and the network. A limit holds as long as these bounds hold. */
export interface Margins {
  /** How far an instance's clock is from the true time at most, either way. Default 500 ms. */
  readonly clockOffsetMs?: number;
  /** From the call of `consume()` to the arrival at the upstream, at most. Default 500 ms. */
  readonly networkMs?: number;
  /** How long a permit is valid. Default 250 ms. */
  readonly permitLifeMs?: number;
  /**
   * The part of a limit that is never granted, rounded up. Default 1/150, which is 2 of 300; of a limit of which that
   * would be more than a tenth nothing, and its window is a second longer.
   */
  readonly heldBack?: number;
}

/** The sliding window that follows from a limit and its margins. */
export interface LimitWindow {
  /** N: how many permits the window holds. */
  readonly capacity: number;
  /** W, in milliseconds. */
  readonly windowMs: number;
  /** The even distance of permits, in milliseconds: W / N. */
  readonly stepMs: number;
  /** How many permits of unused pace may be made up for while demand lasts. */
  readonly burst: number;
  /** How many permits are reserved for instances that cannot reach the store; not part of N. */
  readonly reserve: number;
  /** Present for a narrower limit: the wider one's name. */
  readonly within?: string;
}

/** Two clocks that count in whole milliseconds are off by one each. */
const roundingMs = 2;

/** Of a limit of which more than this part would be held back, nothing is, */
const maxHeldBack = 0.1;
/** and a request may be on its way for so much longer. */
const delayMs = 1000;

export const permitLifeOf = ({ permitLifeMs = 250 }: Margins): number => permitLifeMs;

/**
 * The window by which the limiter counts: longer than the upstream's, and of fewer requests.
 *
 * @param reserve the part of the limit, from 0 to below 1, that is reserved for instances without a store
 * @throws RangeError when the limit, its share or the reserve leave no permit to grant
 * @example
 * windowOf({ requests: 300, perSeconds: 60 });
 * // { capacity: 298, windowMs: 61752, stepMs: 207.2…, burst: 30, reserve: 0 }
 */
export function windowOf(limit: Limit, margins: Margins = {}, reserve = 0): LimitWindow {
  const { requests, perSeconds, share = 1, within } = limit;
  const { clockOffsetMs = 500, networkMs = 500, heldBack } = margins;
  const shared = Math.floor(requests * share);
  const reserved = Math.floor(shared * reserve);
  const rounded = Math.ceil(shared * (heldBack ?? 1 / 150));
  const held = Math.min(rounded, Math.max(0, shared - reserved - 1));
  const isSmall = heldBack === undefined && rounded > shared * maxHeldBack;
  const capacity = shared - reserved - (isSmall ? 0 : held);
  if (!(capacity >= 1 && perSeconds > 0 && share > 0 && share <= 1))
    throw new RangeError(`${requests} in ${perSeconds} s, share ${share}: no permit is left to grant.`);
  // A permit of a narrower limit may be for a time as far ahead as the wider limit's queue is long.
  const aheadMs = within === undefined ? 0 : floorAheadMs;
  const onTheWayMs = networkMs + (isSmall ? delayMs : 0);
  const windowMs =
    perSeconds * 1000 + 2 * clockOffsetMs + permitLifeOf(margins) + onTheWayMs + roundingMs + aheadMs;
  return {
    capacity,
    windowMs,
    stepMs: windowMs / capacity,
    burst: Math.max(1, Math.round(capacity / 10)),
    reserve: reserved,
    ...(within !== undefined && { within }),
  };
}

/** How urgent a request is: `interactive` goes first, `background` last. */
export type Priority = 'interactive' | 'events' | 'background';

/** How one priority shares a limit with the others. */
export interface PriorityRule {
  /** How far ahead of its time a permit may be reserved, in milliseconds: the length of the queue. */
  readonly aheadMs: number;
  /** The part of the limit that stays free for more urgent requests while there are any. */
  readonly headroom: number;
  /**
   * The part of the limit that all priorities together may have used when this one goes faster than the even
   * pace: a burst of requests that can wait would leave nothing for urgent ones later in the same window.
   */
  readonly burst: number;
  /** The part of the limit that this priority gets whatever the demand of the others is. */
  readonly floor: number;
}

/**
 * The rule of each priority, most urgent first.
 *
 * @example
 * // The time that a request of a priority waits for its permit at most, unless it takes a floor.
 * const { aheadMs } = priorities.background; // 250
 */
export const priorities: Readonly<Record<Priority, PriorityRule>> = {
  // Two seconds are about what a person waits; longer queues help few.
  interactive: { aheadMs: 2000, headroom: 0, burst: 1, floor: 0 },
  // Short: an urgent request that comes meanwhile queues behind what is reserved.
  events: { aheadMs: 500, headroom: 0.08, burst: 1, floor: 0.08 },
  background: { aheadMs: 250, headroom: 0.09, burst: 0.5, floor: 0.02 },
};

export const allPriorities = Object.keys(priorities) as readonly Priority[];

const maxAheadMs = Math.max(...allPriorities.map((one) => priorities[one].aheadMs));

/** A floor reserves behind the queue of the most urgent, which would otherwise be full for ever. */
export const floorAheadMs = maxAheadMs + 1000;

export const moreUrgentThan = (priority: Priority): readonly Priority[] =>
  allPriorities.slice(0, allPriorities.indexOf(priority));

/** A record with one value for each priority. */
export const byPriority = (value: (priority: Priority) => number) =>
  Object.fromEntries(allPriorities.map((one) => [one, value(one)])) as Record<Priority, number>;
