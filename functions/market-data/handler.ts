/** The function of the group market-data. */

import * as marketData from '../../lib/catalogue/market-data/index.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler(Object.values(marketData));
