/** The endpoint groups: which operations share one function, and which callers reach them by default. */

/**
 * - `public`: answered to everybody, in every deployment: it says nothing of anybody.
 * - `open`: reachable with an API key; market facts that belong to no account.
 * - `closed`: belongs to one account at the upstream, so no caller reaches it until the deployer opens it
 *   with authentication.
 * - `never`: issues or reads credentials; for the operator's own client, never behind a gateway.
 */
export type Exposure = 'public' | 'open' | 'closed' | 'never';

export interface GroupFacts {
  readonly title: string;
  readonly exposure: Exposure;
  /** Its operations are called before there is an access token, so they are sent without one. */
  readonly beforeToken?: true;
}

export const groups = {
  config: { title: 'Configuration', exposure: 'public', beforeToken: true },
  accounts: { title: 'Accounts', exposure: 'closed' },
  orders: { title: 'Orders', exposure: 'closed' },
  auth: { title: 'Tokens', exposure: 'never', beforeToken: true },
  instruments: { title: 'Instruments', exposure: 'open' },
  'market-data': { title: 'Market data', exposure: 'open' },
  screeners: { title: 'Screeners', exposure: 'open' },
  watchlists: { title: 'Watchlists', exposure: 'closed' },
  fundamentals: { title: 'Fundamentals', exposure: 'open' },
} as const satisfies Record<string, GroupFacts>;

export type Group = keyof typeof groups;

/** Whether an access token, where the upstream wants one, belongs to the operations of a group. */
export const takesToken = (group: Group): boolean => !('beforeToken' in groups[group]);
