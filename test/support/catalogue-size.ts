/** How many operations there are, written down once: an operation that is lost, or counted twice, is not unseen. */

export const catalogueSize = {
  /** 78 of the interface, and one that gateways answer by themselves. */
  operations: 79,
  /** Aliases included. */
  paths: 142,
  /** Those that the gateway exposes: not the two that make and check tokens, nor the two of the market-data stream. */
  exposed: { operations: 75, paths: 134 },
} as const;
