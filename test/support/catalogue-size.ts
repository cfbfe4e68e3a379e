/** How many operations there are, written down once: an operation that is lost, or counted twice, is not unseen. */

export const catalogueSize = {
  operations: 76,
  /** Aliases included. */
  paths: 137,
  /** Those that the gateway exposes: not the two that make and check tokens. */
  exposed: { operations: 74, paths: 133 },
} as const;
