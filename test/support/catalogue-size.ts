/** How many operations there are, written down once: an operation that is lost, or counted twice, is not unseen. */

export const catalogueSize = {
  /** 76 of the interface, and one that gateways answer by themselves. */
  operations: 77,
  /** Aliases included. */
  paths: 138,
  /** Those that the gateway exposes: not the two that make and check tokens. */
  exposed: { operations: 75, paths: 134 },
} as const;
