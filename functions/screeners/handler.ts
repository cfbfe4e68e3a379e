/** The function of the group screeners. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { screeners } from '../compose/offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(screeners()), process.env, gatewayPorts(lambdaHost()));
