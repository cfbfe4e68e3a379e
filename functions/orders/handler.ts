/**
 * The function of the group orders. API Gateway sends it what places, changes and previews orders. It can answer the rest
 * of the group, too: while a deployment replaces one that had this function alone, routes of cancels and reads lead here
 * until the stage has the new ones.
 */

import * as legacy from '../../lib/catalogue/legacy/orders.ts';
import { getStockSnapshots } from '../../lib/catalogue/market-data/snapshots.ts';
import * as cancels from '../../lib/catalogue/order-cancels.ts';
import * as outcomes from '../../lib/catalogue/order-outcomes.ts';
import * as reads from '../../lib/catalogue/order-reads.ts';
import * as orders from '../../lib/catalogue/orders.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler(
  [...Object.values({ ...orders, ...cancels, ...reads, ...outcomes }), ...Object.values(legacy)],
  undefined,
  undefined,
  undefined,
  undefined,
  getStockSnapshots,
);
