/** The function of the group instruments. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { instruments } from '../compose/offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(instruments()), process.env, gatewayPorts(lambdaHost()));
