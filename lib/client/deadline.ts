/**
 * The end of a call's patience: its time-out, or the caller's signal. Made of AbortController and setTimeout
 * alone, because React Native has neither `AbortSignal.any` nor `AbortSignal.timeout`.
 */

export interface Deadline {
  /** For fetch, so that the connection is given up too. */
  readonly signal: AbortSignal;
  readonly ended: 'timed_out' | 'aborted' | undefined;
  /** Why the caller's signal was aborted. */
  readonly reason: unknown;
  /** As the work does, or rejects as soon as the deadline ends, also where the work does not heed a signal. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Lets go of timer and signal; to be called when the call is over. */
  clear(): void;
}

/** What setTimeout can count to; beyond it, it would fire at once. */
const longestTimer = 2_147_483_647;

export function startDeadline(timeoutMs: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let ended: Deadline['ended'];
  let giveUp: (error: Error) => void;
  const over = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  // Nobody may be waiting at the moment.
  over.catch(() => {});
  const end = (how: NonNullable<Deadline['ended']>) => {
    ended ??= how;
    giveUp(new Error(how));
    controller.abort();
  };
  const onAbort = () => end('aborted');
  const timer = timeoutMs <= longestTimer ? setTimeout(() => end('timed_out'), timeoutMs) : undefined;
  if (outer?.aborted) onAbort();
  else outer?.addEventListener('abort', onAbort);
  return {
    signal: controller.signal,
    get ended() {
      return ended;
    },
    get reason() {
      // Older runtimes have no reason.
      return outer?.reason ?? Object.assign(new Error('The call was aborted.'), { name: 'AbortError' });
    },
    within: (work) => Promise.race([over, work]),
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
}

/** @throws TypeError for what is no length of time */
export function checkTimeout(timeoutMs: number): number {
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs: a number of milliseconds above 0');
  return timeoutMs;
}
