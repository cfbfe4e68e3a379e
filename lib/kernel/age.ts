/**
 * How long ago something was read. A wall clock may be put right, and a monotonic one stands still while its machine is
 * suspended: what either of them says has passed.
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
