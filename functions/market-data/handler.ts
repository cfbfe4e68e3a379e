/** The function of the group market-data. */

import { lambdaHost, quotePorts } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { marketData } from '../compose/offers.ts';

export const handler = start(group(marketData()), process.env, quotePorts(lambdaHost()));
