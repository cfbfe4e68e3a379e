/** The function of cancels: its instances wait neither for orders that are placed nor for reads. */

import * as cancels from '../../lib/catalogue/order-cancels.ts';
import { getOrder } from '../../lib/catalogue/order-reads.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler(Object.values(cancels), undefined, undefined, undefined, [getOrder]);
