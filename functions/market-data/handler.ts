/** The function of the group market-data. */

import { marketData } from '../../lib/catalogue/market-data/index.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { deployedHandler } from '../aws/deployed.ts';
import { writeLog } from '../aws/log.ts';

export const handler = deployedHandler(marketData, process.env, writeLog, symbolListing);
