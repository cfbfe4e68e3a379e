/** What functions answer whose requests have entries in the journal. */

import * as olderOrders from '../../lib/catalogue/legacy/orders.ts';
import { getOptionSnapshots } from '../../lib/catalogue/market-data/option-snapshots.ts';
import { getStockSnapshots } from '../../lib/catalogue/market-data/snapshots.ts';
import * as cancels from '../../lib/catalogue/order-cancels.ts';
import * as outcomes from '../../lib/catalogue/order-outcomes.ts';
import * as reads from '../../lib/catalogue/order-reads.ts';
import * as orderOperations from '../../lib/catalogue/orders.ts';
import * as watchlistOperations from '../../lib/catalogue/watchlists.ts';
import type { Offer } from './group.ts';
import { ofAccounts } from './offers.ts';
import { composeOrders, composeOutcomes, composeUnguarded } from './orders.ts';
import type { JournalPorts, OrderPorts } from './ports.ts';

/** Its changes are sent once, as orders are. */
export const watchlists = (): Offer<JournalPorts> => ({
  ...ofAccounts(watchlistOperations),
  orders: composeUnguarded,
});

/** What places, changes and previews orders. */
export const orders = (): Offer<OrderPorts> => ({
  ...ofAccounts(orderOperations),
  lookUps: [reads.getOrder],
  checks: { quotes: { stock: getStockSnapshots, option: getOptionSnapshots } },
  orders: composeOrders,
});

/** Its instances wait neither for orders that are placed nor for reads. */
export const orderCancels = (): Offer<JournalPorts> => ({
  ...ofAccounts(cancels),
  lookUps: [reads.getOrder],
  orders: composeUnguarded,
});

export const orderReads = (): Offer<JournalPorts> => ({
  ...ofAccounts(reads, outcomes, olderOrders),
  orders: composeOutcomes,
});
