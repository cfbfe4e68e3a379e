/** The function of the group orders. */

import * as legacy from '../../lib/catalogue/legacy/orders.ts';
import * as orders from '../../lib/catalogue/orders.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler([...Object.values(orders), ...Object.values(legacy)]);
