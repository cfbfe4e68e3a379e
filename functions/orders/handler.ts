/** The function of the group orders. */

import { lambdaHost } from '../aws/host.ts';
import { gatewayPorts } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { orders } from '../compose/offers.ts';

export const handler = start(group(orders()), process.env, gatewayPorts(lambdaHost()));
