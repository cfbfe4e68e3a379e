/** The function of the group accounts. */

import { gatewayPorts, lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { accounts } from '../compose/offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(accounts()), process.env, gatewayPorts(lambdaHost()));
