/** State of the simulated upstream: accounts, instruments, prices, orders, watchlists and tokens. */

import { hoursOf, type MarketHours, type PartOfDay } from './market/sessions.ts';
import { createUniverse, type Universe } from './market/universe.ts';
import { observed } from './observed.ts';
import { type Rejection, refuseAsSeen } from './refusal.ts';
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

/** Dollars paid into the account of each type, such as `2500.00`, before the orders of its past. */
export type Deposits = Readonly<Record<Holder['account_type'], string>>;

const usualDeposits: Deposits = { MARGIN: '1000000.00', CASH: '250000.00' };

/** @throws RangeError for text that is no amount in dollars and cents */
function centsOf(dollars: string): bigint {
  if (!/^\d{1,12}(\.\d\d)?$/.test(dollars)) throw new RangeError(`deposit ${dollars} is not like 2500.00`);
  return BigInt((dollars.includes('.') ? dollars : `${dollars}.00`).replace('.', ''));
}

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
  /** Position in the regular session of the real market, or the one that the options fix. */
  partOfDay(time: number): PartOfDay;
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
  readonly deposits?: Partial<Deposits>;
  readonly marketHours?: MarketHours;
}

export function createWorld(seed: number, options: WorldOptions = {}): World {
  const { tokenApprovalMs = 3000, tokenUseProlongs = true, accessToken, depthLevels = 50 } = options;
  const universe = createUniverse(seed);
  const deposits: Deposits = { ...usualDeposits, ...options.deposits };
  const portfolios = new Map(
    accounts.map(({ account_id: id, account_type: kind }) => [id, new Portfolio(centsOf(deposits[kind]))]),
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
    partOfDay: hoursOf(options.marketHours),
  };
}

/** Refuses market data that the user of the app key has not subscribed to. */
export function notSubscribed({ unsubscribed }: World, category: string | undefined): Rejection | undefined {
  const product = unsubscribed.find((one) => one === category);
  return product
    ? refuseAsSeen(observed.noSubscription, `No market data subscription, product ${product}`)
    : undefined;
}
