/** One request's worth of budget. */

/** When a permission may be used, by the instance's own reckoning. */
export interface Validity {
  readonly validFrom: number;
  readonly expiresAt: number;
}

export interface Permit {
  /** When it is worth nothing any more, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /**
   * Asked immediately before the request goes to the socket, with nothing awaited in between. True at most
   * once; false when the time is over, as after a freeze: then the request must not leave, and whoever
   * wants it to asks for another permission.
   */
  consume(): boolean;
}

export function createPermit(
  { expiresAt }: Validity,
  now: () => number,
  { isClosed, onExpired }: { readonly isClosed: () => boolean; readonly onExpired: () => void },
): Permit {
  let used = false;
  return {
    expiresAt,
    consume() {
      if (used) return false;
      used = true;
      const valid = now() <= expiresAt && !isClosed();
      if (!valid) onExpired();
      return valid;
    },
  };
}
