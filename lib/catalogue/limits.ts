/** The upstream's request limits. Plans, limiter and simulator read them here. */

export interface RequestLimit {
  readonly title: string;
  /** How many requests may arrive in any window of `perSeconds`. */
  readonly requests: number;
  readonly perSeconds: number;
}

export const limits = {
  /** Interface, section "Limits": 300 requests per minute for the Market Data API. */
  'market-data': { title: 'Market Data API', requests: 300, perSeconds: 60 },
  /**
   * The interface text names none for these. The vendor's table gives each of its market-data endpoints 60 in 60 s; the
   * same for all instrument operations together is the careful reading.
   */
  instruments: { title: 'Instruments', requests: 60, perSeconds: 60 },
} as const satisfies Record<string, RequestLimit>;

export type LimitName = keyof typeof limits;
