/** The function of the group instruments. */

import { lambdaHost } from '../aws/host.ts';
import { gatewayPorts } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { instruments } from '../compose/offers.ts';

export const handler = start(group(instruments()), process.env, gatewayPorts(lambdaHost()));
