/**
 * Port: requests to cancel what is open. An operator asks for it with a stop, a check that fails with its order; the
 * function that cancels finds them here, and a request lasts until nothing is open any more.
 */

export interface MassCancel {
  /** Random; the Idempotency-Keys of its cancels are made of it. */
  readonly id: string;
  /** Whose open orders: a scope's key, as in `controls.ts`. */
  readonly scope: string;
  /** When it was asked for, in milliseconds since the epoch. */
  readonly at: number;
}

/** Each method rejects when the store cannot tell, or takes too long. */
export interface MassCancelStore {
  /** An open one of the same scope is replaced: the later one has more to cancel. */
  request(massCancel: MassCancel): Promise<void>;
  /** Those that are not finished; a read sees every request that was answered before. */
  open(): Promise<readonly MassCancel[]>;
  /** @returns false when a later request of the same scope has replaced it: that one goes on */
  finish(massCancel: MassCancel): Promise<boolean>;
}
