/** The function of the group market-data. */

import * as legacy from '../../lib/catalogue/legacy/market-data.ts';
import { marketData } from '../../lib/catalogue/market-data/index.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { deployedHandler } from '../aws/deployed.ts';
import { writeLog } from '../aws/log.ts';

export const handler = deployedHandler(
  [...marketData, ...Object.values(legacy)],
  process.env,
  writeLog,
  symbolListing,
);
