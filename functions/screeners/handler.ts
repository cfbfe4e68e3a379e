/** The function of the group screeners. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { screeners } from '../compose/offers.ts';

export const handler = start(group(screeners()), process.env, gatewayPorts(lambdaHost()));
