/**
 * Clocks for the time that passes in this process. A wall clock may be corrected, and a monotonic one stands still while
 * its machine is suspended. The wall clock is for times that another machine reads: signatures, tokens, stored records.
 * Everything else measures by:
 * - `createAges` and `steadyClock`, the larger of both: a cached record is never older than it seems, and each pause ends.
 * - `monotonicClock`, the smaller: a limit's window is certainly over.
 */

export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export interface Ages {
  now(): Moment;
  /** Milliseconds since a moment; infinite when the wall clock was put back meanwhile, so that the caller reads again. */
  since(moment: Moment): number;
}

/**
 * @param monotonic default: the platform's, or `clock` itself if it is not `Date.now`
 *
 * @example
 * const ages = createAges(Date.now);
 * const readAt = ages.now();
 * if (ages.since(readAt) > 5000) await read();
 */
export function createAges(
  clock: () => number,
  monotonic: () => number = clock === Date.now ? () => performance.now() : clock,
): Ages {
  return {
    now: () => ({ wall: clock(), monotonic: monotonic() }),
    since({ wall, monotonic: before }) {
      const passed = clock() - wall;
      return passed < 0 ? Number.POSITIVE_INFINITY : Math.max(passed, monotonic() - before);
    },
  };
}

/** A wall clock that lost more than this between two readings was put back. */
const stepMs = 100;

/**
 * Milliseconds since the epoch that go on while the machine is suspended, and when the wall clock is put back: from then on
 * they are ahead of it. All readers of one wall clock share one steady clock, because they compare their times.
 *
 * @param clock if it is not `Date.now`, the time that passed while it was put back is unknown and counts as none
 *
 * @example
 * const clock = steadyClock(Date.now);
 * const until = clock() + 2000;
 */
export const steadyClock = sharedByClock((clock) => {
  const monotonic = clock === Date.now ? () => performance.now() : () => 0;
  let [wall, passed, ahead] = [clock(), monotonic(), 0];
  return () => {
    const [wallBefore, passedBefore] = [wall, passed];
    [wall, passed] = [clock(), monotonic()];
    const lostMs = passed - passedBefore - (wall - wallBefore);
    if (lostMs > stepMs) ahead += lostMs;
    return wall + ahead;
  };
});

/** Milliseconds since the epoch that stand still while the machine is suspended, and that no step of the wall clock moves. */
export const monotonicClock = sharedByClock((clock) => {
  if (clock !== Date.now) return steadyClock(clock);
  const startedAt = clock() - performance.now();
  return () => startedAt + performance.now();
});

function sharedByClock(create: (clock: () => number) => () => number) {
  const clocks = new WeakMap<() => number, () => number>();
  return (clock: () => number): (() => number) => {
    const shared = clocks.get(clock) ?? create(clock);
    clocks.set(clock, shared).set(shared, shared);
    return shared;
  };
}

/** Converts a moment of the wall clock to the steady clock over it. */
export const onSteadyClock = (clock: () => number, at: number) => at + steadyClock(clock)() - clock();

/**
 * Age of a record in milliseconds. A record dated in the future comes from a clock that differs by at least as much, so it
 * does not count as new.
 *
 * @param at the record's date, perhaps by another machine's clock
 */
export const ageMsOf = (at: number, now: number): number => Math.abs(now - at);
