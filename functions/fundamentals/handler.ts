/** The function of the group fundamentals. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { fundamentals } from '../compose/offers.ts';

export const handler = start(group(fundamentals()), process.env, gatewayPorts(lambdaHost()));
