/**
 * Port: requests to cancel what is open. An operator asks for it with a stop, a check that fails with its order; the
 * function that cancels finds them here, and a request lasts until nothing of it is open any more.
 */

export interface MassCancel {
  /** Random: a request that replaces another one has another id. */
  readonly id: string;
  /** Whose open orders: a scope's key, as in `controls.ts`. */
  readonly scope: string;
  /** When it was asked for, in milliseconds since the epoch. */
  readonly at: number;
  /** Orders placed later stay open: trading may have been resumed by then. In milliseconds since the epoch. */
  readonly placedBefore: number;
}

/** Each method rejects when the store cannot tell, or takes too long. */
export interface MassCancelStore {
  /**
   * Resolves when the request, or another one of its scope with a later `placedBefore`, is open. One with an earlier or the
   * same `placedBefore` is replaced, because this one has more to cancel; a later one stays, so that a write that was on its
   * way for long takes nothing away from it.
   */
  request(massCancel: MassCancel): Promise<void>;
  /** Those that are not finished; a read sees every request that was answered before. */
  open(): Promise<readonly MassCancel[]>;
  /** @returns false when it is not open any more: another one of its scope goes on, or another run has finished it */
  finish(massCancel: MassCancel): Promise<boolean>;
}
