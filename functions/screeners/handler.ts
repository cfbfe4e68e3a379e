/** The function of the group screeners. */

import { lambdaHost } from '../aws/host.ts';
import { gatewayPorts } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { screeners } from '../compose/offers.ts';

export const handler = start(group(screeners()), process.env, gatewayPorts(lambdaHost()));
