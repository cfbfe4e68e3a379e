/**
 * The deadline of a call: its time-out, or the caller's signal. Uses only AbortController and setTimeout, because React
 * Native has neither `AbortSignal.any` nor `AbortSignal.timeout`.
 */

export interface Deadline {
  /** Signal for fetch, so that the connection ends with the deadline. */
  readonly signal: AbortSignal;
  readonly ended: 'timed_out' | 'aborted' | undefined;
  /** Reason of the caller's signal. */
  readonly reason: unknown;
  /** Settles as `work` does, or rejects when the deadline ends, even if the work ignores the signal. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Releases timer and signal; must be called when the call is over. */
  clear(): void;
}

/** The longest delay of setTimeout; a longer one would fire at once. */
const maxTimerMs = 2_147_483_647;

export function startDeadline(timeoutMs: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let ended: Deadline['ended'];
  let giveUp: (error: Error) => void;
  const over = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  // Prevents an unhandled rejection when the deadline ends and no `within` is waiting.
  over.catch(() => {});
  const end = (how: NonNullable<Deadline['ended']>) => {
    ended ??= how;
    giveUp(new Error(how));
    controller.abort();
  };
  const onAbort = () => end('aborted');
  const timer = timeoutMs <= maxTimerMs ? setTimeout(() => end('timed_out'), timeoutMs) : undefined;
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

/** @throws TypeError for a value that is no duration */
export function checkTimeout(timeoutMs: number): number {
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs: a number of milliseconds above 0');
  return timeoutMs;
}
