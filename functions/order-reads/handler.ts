/** The function that reads orders. */

import { lambdaHost } from '../aws/host.ts';
import { gatewayPorts } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { orderReads } from '../compose/offers.ts';

export const handler = start(group(orderReads()), process.env, gatewayPorts(lambdaHost()));
