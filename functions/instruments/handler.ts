/** The function of the group instruments. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { instruments } from '../compose/offers.ts';

export const handler = start(group(instruments()), process.env, gatewayPorts(lambdaHost()));
