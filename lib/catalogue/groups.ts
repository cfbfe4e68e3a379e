/** The endpoint groups: which operations share one function, and which callers reach them by default. */

/**
 * - `open`: reachable with an API key; market facts that belong to no account.
 * - `closed`: belongs to one account at the upstream, so no caller reaches it until the deployer opens it
 *   with authentication.
 * - `never`: issues or reads credentials; for the operator's own client, never behind a gateway.
 */
export type Exposure = 'open' | 'closed' | 'never';

export interface GroupFacts {
  readonly title: string;
  readonly exposure: Exposure;
}

export const groups = {
  accounts: { title: 'Accounts', exposure: 'closed' },
  orders: { title: 'Orders', exposure: 'closed' },
  auth: { title: 'Tokens', exposure: 'never' },
  instruments: { title: 'Instruments', exposure: 'open' },
  'market-data': { title: 'Market data', exposure: 'open' },
  screeners: { title: 'Screeners', exposure: 'open' },
  watchlists: { title: 'Watchlists', exposure: 'closed' },
  fundamentals: { title: 'Fundamentals', exposure: 'open' },
} as const satisfies Record<string, GroupFacts>;

export type Group = keyof typeof groups;
