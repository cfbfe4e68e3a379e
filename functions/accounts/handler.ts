/** The function of the group accounts. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { accounts } from '../compose/offers.ts';

export const handler = start(group(accounts()), process.env, gatewayPorts(lambdaHost()));
