/**
 * What each function of an endpoint group answers. Functions, so that a bundle has the operations of its own alone; a test
 * compares them with the catalogue.
 */

import * as accountOperations from '../../lib/catalogue/accounts.ts';
import { fundamentals as fundamentalsOperations } from '../../lib/catalogue/fundamentals/index.ts';
import * as instrumentOperations from '../../lib/catalogue/instruments.ts';
import * as olderFundamentals from '../../lib/catalogue/legacy/fundamentals.ts';
import * as olderInstruments from '../../lib/catalogue/legacy/instruments.ts';
import * as olderMarketData from '../../lib/catalogue/legacy/market-data.ts';
import * as olderOrders from '../../lib/catalogue/legacy/orders.ts';
import * as olderScreeners from '../../lib/catalogue/legacy/screeners.ts';
import { marketData as marketDataOperations } from '../../lib/catalogue/market-data/index.ts';
import { getOptionSnapshots } from '../../lib/catalogue/market-data/option-snapshots.ts';
import { getStockSnapshots } from '../../lib/catalogue/market-data/snapshots.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import * as cancels from '../../lib/catalogue/order-cancels.ts';
import * as outcomes from '../../lib/catalogue/order-outcomes.ts';
import * as reads from '../../lib/catalogue/order-reads.ts';
import * as orderOperations from '../../lib/catalogue/orders.ts';
import * as screenerOperations from '../../lib/catalogue/screeners.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import * as watchlistOperations from '../../lib/catalogue/watchlists.ts';
import type { Offer } from './group.ts';

/** A list, or what a file of the catalogue exports. */
type Operations = readonly Operation[] | Readonly<Record<string, Operation>>;

const offer = (...operations: readonly Operations[]): Offer => ({
  operations: operations.flatMap((some) => Object.values<Operation>(some)),
  lookUps: [],
  listing: undefined,
  quotes: undefined,
});

export const accounts = () => offer(accountOperations);
export const fundamentals = () => offer(fundamentalsOperations, olderFundamentals);
export const instruments = () => offer(instrumentOperations, olderInstruments);
export const screeners = () => offer(screenerOperations, olderScreeners);
export const watchlists = () => offer(watchlistOperations);

export const marketData = (): Offer => ({
  ...offer(marketDataOperations, olderMarketData),
  listing: symbolListing,
});

/**
 * API Gateway sends this function what places, changes and previews orders. It can answer the rest of the group, too: while
 * a deployment replaces one that had this function alone, routes of cancels and reads lead here until the stage has the new
 * ones.
 */
export const orders = (): Offer => ({
  ...offer(orderOperations, cancels, reads, outcomes, olderOrders),
  quotes: { stock: getStockSnapshots, option: getOptionSnapshots },
});

/** Its instances wait neither for orders that are placed nor for reads. */
export const orderCancels = (): Offer => ({ ...offer(cancels), lookUps: [reads.getOrder] });

export const orderReads = () => offer(reads, outcomes, olderOrders);
