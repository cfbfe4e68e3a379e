/** How many operations there are, written down once: an operation that is lost, or counted twice, is not unseen. */

export const catalogueSize = {
  operations: 64,
  /** Aliases included. */
  paths: 124,
  /** Those that the gateway exposes: not the two that make and check tokens. */
  exposed: { operations: 62, paths: 120 },
} as const;
