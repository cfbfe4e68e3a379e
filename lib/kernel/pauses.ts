/** Pauses between attempts: longer with each failure, and on the runtime's own timer. */

/** Exponential back-off: each further failure doubles the pause, up to a bound. */
export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** @param failures number of failures in a row before this one; 0 for the first */
export const backOffMs = ({ firstMs, maxMs }: BackOff, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(30, failures));

/**
 * Back-off with full jitter: anything from 0 to the pause, so that clients that failed together do not retry together.
 *
 * @param random from 0 to below 1
 */
export const jitteredMs = (backOff: BackOff, failures: number, random: () => number): number =>
  backOffMs(backOff, failures) * random();

/** The same of which half is random: a pause that is never short. */
export const halfJitteredMs = (backOff: BackOff, failures: number, random: () => number): number =>
  backOffMs(backOff, failures) * (0.5 + random() / 2);

/**
 * Compare and set: reads, decides and writes, and all of it anew when another writer came between.
 *
 * @param attempt gives undefined when another writer was faster
 * @param pause before each further attempt; for writers that come together
 * @returns undefined when others were faster each time
 */
export async function compareAndSet<T>(
  maxTries: number,
  attempt: () => Promise<T | undefined>,
  pause?: (failures: number) => Promise<unknown>,
): Promise<T | undefined> {
  for (let failures = 0; failures < maxTries; failures++) {
    if (failures > 0) await pause?.(failures - 1);
    const written = await attempt();
    if (written !== undefined) return written;
  }
  return undefined;
}

/**
 * Resolves after `ms` milliseconds, or rejects with the signal's reason when it aborts.
 *
 * @example await sleep(500);
 */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    if (signal?.aborted) aborted();
    else signal?.addEventListener('abort', aborted);
  });

/** Whether periodic work is due. It is also due when the clock was put back, because it would otherwise be late. */
export const isDue = (now: number, due: number, everyMs: number): boolean =>
  now >= due || now < due - everyMs;

/** Calls `run` after `ms` milliseconds or later; the function that it returns cancels the call. */
export type After = (ms: number, run: () => void) => () => void;

/**
 * The timer of the platform, and the default of a limiter.
 *
 * @example
 * const cancel = afterTimeout(500, () => reject(new Error('too slow')));
 * operation.finally(cancel);
 */
export const afterTimeout: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Resolves when the work has resolved or rejected, or after `ms` milliseconds: then the work goes on by itself. */
export const endOf = (work: Promise<unknown>, ms: number, after: After = afterTimeout): Promise<void> =>
  new Promise((done) => {
    const resolve = done as () => void;
    const cancel = after(Math.max(0, ms), resolve);
    work.then(resolve, resolve).then(cancel);
  });

/** Resolves as the work does; rejects after `ms` milliseconds. */
export const within = <T>(work: Promise<T>, ms: number, after: After = afterTimeout): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
