/** The function of the group market-data. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { marketData } from '../compose/offers.ts';

export const handler = start(group(marketData()), process.env, gatewayPorts(lambdaHost()));
