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
} as const satisfies Record<string, RequestLimit>;

export type LimitName = keyof typeof limits;
