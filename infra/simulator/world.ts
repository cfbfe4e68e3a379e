/** State of the simulated upstream: accounts, instruments, prices, orders, watchlists and tokens. */

import { createUniverse, type Universe } from './market/universe.ts';
import { type Rejection, refuse } from './refusal.ts';
import { type StreamLimits, StreamSessions } from './stream-sessions.ts';
import { TokenBook } from './tokens.ts';
import { OrderBook } from './trading/order-book.ts';
import { bringPast } from './trading/past.ts';
import { feeOf, Portfolio } from './trading/portfolio.ts';
import { initialWatchlists, WatchlistBook } from './watchlist-book.ts';

export interface Holder {
  readonly account_id: string;
  readonly account_type: 'MARGIN' | 'CASH';
  readonly user_id: string;
  readonly account_number: string;
  readonly account_label: string;
  readonly account_class: string;
}

/** Invented accounts, the same for every seed, so that an account id can be written into a test or a note. */
const accounts: readonly Holder[] = [
  {
    account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
    account_type: 'MARGIN',
    user_id: '7700310001',
    account_number: 'SIM70031',
    account_label: 'Individual Margin',
    account_class: 'INDIVIDUAL_MARGIN',
  },
  {
    account_id: 'B1N6UY3G8W0JFS7QTC2IE9OH4M',
    account_type: 'CASH',
    user_id: '7700310001',
    account_number: 'SIM70032',
    account_label: 'Individual Cash',
    account_class: 'INDIVIDUAL_CASH',
  },
];

/** Deposits in cents. */
const deposits: Readonly<Record<Holder['account_type'], bigint>> = {
  MARGIN: 1_000_000_00n,
  CASH: 250_000_00n,
};

/** Market data of one asset category, which a user may subscribe to. */
export type Product = 'US_STOCK' | 'US_ETF' | 'US_OPTION';

export interface World {
  readonly seed: number;
  readonly accounts: readonly Holder[];
  readonly universe: Universe;
  readonly orders: OrderBook;
  /** Portfolios by account id. */
  readonly portfolios: ReadonlyMap<string, Portfolio>;
  readonly watchlists: WatchlistBook;
  readonly tokens: TokenBook;
  /** Whether requests need an access token. */
  readonly hasTokenCheck: boolean;
  /** Price levels on each side of the book that the user may request. */
  readonly depthLevels: number;
  /** Market data that the user has not subscribed to. */
  readonly unsubscribed: readonly Product[];
  /** Sessions of the market-data stream. */
  readonly streamSessions: StreamSessions;
}

export interface WorldOptions {
  /** Milliseconds that a new token waits for its owner's approval; 3000 when absent. */
  readonly tokenApprovalMs?: number;
  /** Whether a token lives longer for being used; true when absent. */
  readonly tokenUseProlongs?: boolean;
  /** Access token; when set, requests need one. */
  readonly accessToken?: string;
  /** Price levels of the book; 50, level 2, when absent. */
  readonly depthLevels?: number;
  /** Market data without a subscription; none when absent. */
  readonly unsubscribed?: readonly Product[];
  readonly marketStream?: StreamLimits;
}

export function createWorld(seed: number, options: WorldOptions = {}): World {
  const { tokenApprovalMs = 3000, tokenUseProlongs = true, accessToken, depthLevels = 50 } = options;
  const universe = createUniverse(seed);
  const portfolios = new Map(
    accounts.map(({ account_id: id, account_type: kind }) => [id, new Portfolio(deposits[kind])]),
  );
  const orders = new OrderBook(seed, ({ order, time, quantity, price }) => {
    const { asset, sign, stored } = order;
    const fee = feeOf(asset, quantity, price, sign > 0);
    const signed = sign > 0 ? quantity : -quantity;
    portfolios.get(stored.accountId)!.apply({ time, asset, quantity: signed, price, fee });
  });
  bringPast(accounts[0]!.account_id, orders, universe);
  return {
    seed,
    accounts,
    universe,
    orders,
    portfolios,
    watchlists: new WatchlistBook(initialWatchlists((symbol) => universe.get(symbol))),
    tokens: new TokenBook(seed, tokenApprovalMs, tokenUseProlongs),
    hasTokenCheck: accessToken !== undefined,
    depthLevels,
    unsubscribed: options.unsubscribed ?? [],
    streamSessions: new StreamSessions(options.marketStream),
  };
}

/** Refuses market data that the user of the app key has not subscribed to. */
export function notSubscribed({ unsubscribed }: World, category: string | undefined): Rejection | undefined {
  const product = unsubscribed.find((one) => one === category);
  return product
    ? refuse(403, 'MARKET_DATA_NOT_SUBSCRIBED', `No market data subscription, product ${product}`)
    : undefined;
}
