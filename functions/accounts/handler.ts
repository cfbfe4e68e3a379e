/** The function of the group accounts. */

import { lambdaHost } from '../aws/host.ts';
import { gatewayPorts } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { accounts } from '../compose/offers.ts';

export const handler = start(group(accounts()), process.env, gatewayPorts(lambdaHost()));
