/**
 * Port to the requests for mass cancels. An operator's stop or a failed check makes one; the function that cancels reads
 * them here. A request lasts until none of its orders is open any more.
 */

export interface MassCancel {
  /** Random: a request that replaces another one has another id. */
  readonly id: string;
  /** Key of the scope whose open orders are cancelled, as in `controls.ts`. */
  readonly scope: string;
  /** When the cancel was requested, in milliseconds since the epoch. */
  readonly at: number;
  /** Orders placed later stay open: trading may have been resumed by then. In milliseconds since the epoch. */
  readonly placedBefore: number;
}

/** Each method rejects when the store fails or takes too long. */
export interface MassCancelStore {
  /**
   * Resolves when the request, or another one of its scope with a later `placedBefore`, is open. The request replaces one
   * with an earlier or the same `placedBefore`, because it covers more orders; a later one stays, so that a delayed write
   * does not narrow it.
   */
  request(massCancel: MassCancel): Promise<void>;
  /** Unfinished requests; a read sees every request that was answered before. */
  open(): Promise<readonly MassCancel[]>;
  /** @returns false when it is not open any more: another request has replaced it, or another run has finished it */
  finish(massCancel: MassCancel): Promise<boolean>;
}
