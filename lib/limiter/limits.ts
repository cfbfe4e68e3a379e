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
 * In a small limit, holding back one request costs much: 2 in 2 s would become 1 in 3.75 s. There W is a second longer
 * instead, so that a request may be on its way for n + 1 s, as after two lost packets. That leaves 2 in 4.75 s.
 */

/** One limit of the upstream, as its documentation states it. */
export interface Limit {
  /** How many requests the upstream accepts in any window of `perSeconds`. */
  readonly requests: number;
  /** The length of the upstream's window, in seconds. */
  readonly perSeconds: number;
  /** The part of the limit that this limiter may use, where other programs use the same app key. Default 1. */
  readonly share?: number;
  /**
   * Name of the wider limit that requests of this limit also count against. Only the wider one has a queue; this one
   * counts permits up to 3 seconds late, and so grants about 92 % of its requests.
   */
  readonly within?: string;
}

/** Assumed bounds of clocks and the network. A limit is kept as long as these bounds hold. */
export interface Margins {
  /** Largest deviation of an instance's clock from the true time, either way. Default 500 ms. */
  readonly clockOffsetMs?: number;
  /** Longest time from the call of `consume()` to the arrival at the upstream. Default 500 ms. */
  readonly networkMs?: number;
  /** How long a permit is valid. Default 250 ms. */
  readonly permitLifeMs?: number;
  /**
   * The part of a limit that is never granted, rounded up to requests. Default 1/150, which is 2 of 300. Where that would
   * be more than a tenth of the limit, nothing is held back, and the window is a second longer.
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
  /** How many permits of unused pace may be granted later while demand lasts. */
  readonly burst: number;
  /** How many permits are reserved for instances that cannot reach the store; not part of N. */
  readonly reserve: number;
  /** Present for a narrower limit: the wider one's name. */
  readonly within?: string;
}

/** The windows of all limits that one store's item counts, by name. */
export type Windows = ReadonlyMap<string, LimitWindow>;

/** Two clocks that count in whole milliseconds are off by one each. */
const roundingMs = 2;

/** Largest part of a limit that is held back; in smaller limits nothing is, and `delayMs` applies. */
const maxHeldBack = 0.1;
/** Extra time for which a request of a small limit may be on its way. */
const delayMs = 1000;

export const permitLifeOf = ({ permitLifeMs = 250 }: Margins): number => permitLifeMs;

/**
 * The window with which the limiter counts: longer than the upstream's, and with fewer requests.
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
  /** Length of the queue: how far ahead of its time a permit may be reserved, in milliseconds. */
  readonly aheadMs: number;
  /** The part of the limit that stays free for more urgent requests while there are any. */
  readonly headroom: number;
  /**
   * The part of the limit that all priorities together may have used when this one goes faster than the even
   * pace: a burst of requests that can wait would leave nothing for urgent ones later in the same window.
   */
  readonly burst: number;
  /** The part of the limit that this priority gets, whatever the demand of the others. */
  readonly floor: number;
}

/**
 * The rule of each priority, most urgent first.
 *
 * @example
 * // The longest wait of a background request for its permit, unless it uses its floor.
 * const { aheadMs } = priorities.background; // 250
 */
export const priorities: Readonly<Record<Priority, PriorityRule>> = {
  // A person waits about two seconds; longer queues help few.
  interactive: { aheadMs: 2000, headroom: 0, burst: 1, floor: 0 },
  // The queue is short, because a later urgent request must wait behind reserved permits.
  events: { aheadMs: 500, headroom: 0.08, burst: 1, floor: 0.08 },
  background: { aheadMs: 250, headroom: 0.09, burst: 0.5, floor: 0.02 },
};

export const allPriorities = Object.keys(priorities) as readonly Priority[];

const maxAheadMs = Math.max(...allPriorities.map((one) => priorities[one].aheadMs));

/** How far ahead a floor reserves: behind the queue of the most urgent priority, which may always be full. */
export const floorAheadMs = maxAheadMs + 1000;

export const moreUrgentThan = (priority: Priority): readonly Priority[] =>
  allPriorities.slice(0, allPriorities.indexOf(priority));

/** A record with one value for each priority. */
export const byPriority = (value: (priority: Priority) => number) =>
  Object.fromEntries(allPriorities.map((one) => [one, value(one)])) as Record<Priority, number>;
