/** The function that reads orders. */

import * as legacy from '../../lib/catalogue/legacy/orders.ts';
import * as outcomes from '../../lib/catalogue/order-outcomes.ts';
import * as reads from '../../lib/catalogue/order-reads.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler([
  ...Object.values({ ...reads, ...outcomes }),
  ...Object.values(legacy),
]);
