/** The function of the group orders. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { orders } from '../compose/offers.ts';

export const handler = start(group(orders()), process.env, gatewayPorts(lambdaHost()));
