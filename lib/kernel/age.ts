/**
 * Time that passes in this process. A wall clock may be put right, and a monotonic one stands still while its machine is
 * suspended. The wall clock is for what another machine reads: signatures, tokens, stored records. All else measures by:
 * - `createAges` and `steadyClock`, the larger of both: what is cached is never older than it seems, and each pause ends.
 * - `monotonicClock`, the smaller: a window of a limit is over for certain.
 */

export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export interface Ages {
  now(): Moment;
  /** In milliseconds; infinite where the wall clock was put back, so that what is so old is read again. */
  since(moment: Moment): number;
}

/**
 * @param monotonic default the platform's, and where another clock than `Date.now` is given, that one
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

/** A wall clock that is behind by more than this between two readings was put back. */
const stepMs = 100;

/**
 * Milliseconds since the epoch that go on while the machine is suspended, and when the wall clock is put back: from then on
 * they are ahead of it. Those who read the same wall clock share one, because they compare what they wrote.
 *
 * @param clock where it is not `Date.now`, nothing is known to have passed while it was put back
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

/** The same that stand still while the machine is suspended, and that no step of the wall clock moves. */
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

/** A moment of the wall clock, as the steady clock over it counts. */
export const onSteadyClock = (clock: () => number, at: number) => at + steadyClock(clock)() - clock();

/**
 * How old a record is. One from the future is at least as wrong as its clock and this one are apart: it is not taken for new.
 *
 * @param at when another machine may have dated it
 */
export const ageMsOf = (at: number, now: number): number => Math.abs(now - at);
