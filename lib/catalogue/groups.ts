/** Endpoint groups: operations that share a function, and are reached by the same callers by default. */

import { type Note, onPage, seen } from './notes.ts';

/**
 * - `public`: answered to everybody, in every deployment, because it reveals nothing about anybody.
 * - `open`: reachable with an API key; market facts that belong to no account.
 * - `closed`: belongs to one account at the upstream, so no caller reaches it until the deployer opens it with
 *   authentication.
 * - `never`: issues or reads credentials, or acts on a connection of the operator's own client; only that client calls it,
 *   never a gateway.
 */
export type Exposure = 'public' | 'open' | 'closed' | 'never';

export interface GroupFacts {
  readonly title: string;
  readonly exposure: Exposure;
  /** Facts about all operations of the group. */
  readonly notes?: readonly Note[];
  /** Marks a group whose operations are called before there is an access token, and so are sent without one. */
  readonly beforeToken?: true;
  /** Scope that a user needs for requests that change something. */
  readonly changeScope?: 'trade' | 'write';
}

export const groups = {
  config: { title: 'Configuration', exposure: 'public', beforeToken: true },
  accounts: { title: 'Accounts', exposure: 'closed' },
  orders: { title: 'Orders', exposure: 'closed', changeScope: 'trade' },
  auth: { title: 'Tokens', exposure: 'never', beforeToken: true },
  instruments: { title: 'Instruments', exposure: 'open' },
  'market-data': {
    title: 'Market data',
    exposure: 'open',
    notes: [
      onPage(
        'Redistribution: the vendor says that market-data rules prohibit institutions from proxying quotes. It wants their apps to get a client token from their backend (POST /auth/client-tokens/create and …/refresh, signed) and to call the market-data host themselves. Read your data agreement before you serve quotes to others.',
      ),
      seen(
        'Without a data subscription: 403 MARKET_DATA_NOT_SUBSCRIBED, with the product’s name in the message.',
      ),
      seen(
        'Wrong values are refused with 417 ILLEGAL_PARAMETER, UNSUPPORTED_CATEGORY or UNSUPPORTED_PERIOD, and wrong parameters with 417 OPENAPI_PARAM_ERR.',
      ),
    ],
  },
  'market-stream': { title: 'Market-data stream', exposure: 'never' },
  screeners: { title: 'Screeners', exposure: 'open' },
  watchlists: { title: 'Watchlists', exposure: 'closed', changeScope: 'write' },
  fundamentals: { title: 'Fundamentals', exposure: 'open' },
} as const satisfies Record<string, GroupFacts>;

export type Group = keyof typeof groups;

/** Whether the answers of a group belong to an account at the upstream: only callers with a right to it get them. */
export const isAccountData = (group: Group): boolean => groups[group].exposure === 'closed';

/** Whether the operations of a group are sent with an access token, if the upstream requires one. */
export const takesToken = (group: Group): boolean => !('beforeToken' in groups[group]);
