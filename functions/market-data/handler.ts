/** The function of the group market-data. */

import { lambdaHost, quotePorts } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { marketData } from '../compose/offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(marketData()), process.env, quotePorts(lambdaHost()));
