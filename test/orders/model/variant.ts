/** How a step can go, and how much may go wrong in one history. */

/** How often each may happen in one history. */
export interface Budget {
  /** An instance dies: what it was about to do, it never does. */
  readonly crash: number;
  /** The journal fails, before or after its effect. */
  readonly store: number;
  /** An answer of the upstream is lost, before or after its effect, or a look-up is not possible. */
  readonly net: number;
  /** A look-up does not see an order yet. */
  readonly late: number;
  /** The upstream or the limiter refuses. */
  readonly refusal: number;
  /** Everything stands still for longer than absence needs to count. */
  readonly long: number;
  /** All reads of one run of the settlement find nothing. */
  readonly wrong: number;
  /** The clock of an instance is put right, or wrong. */
  readonly step: number;
}

export const nothing: Budget = {
  crash: 0,
  store: 0,
  net: 0,
  late: 0,
  refusal: 0,
  long: 0,
  wrong: 0,
  step: 0,
};

export interface Variant {
  readonly name: string;
  readonly cost?: keyof Budget | undefined;
  /** Whether a crash right after it differs from one before it. */
  readonly mayCrash?: boolean;
  /** Its effect, and what the process is answered. */
  readonly run: () => unknown;
}
