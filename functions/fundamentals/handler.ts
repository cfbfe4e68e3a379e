/** The function of the group fundamentals. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { fundamentals } from '../compose/offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(fundamentals()), process.env, gatewayPorts(lambdaHost()));
