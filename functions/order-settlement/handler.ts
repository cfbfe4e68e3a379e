/** The function that settles orders whose outcome stayed unknown. */

import { lambdaHost } from '../aws/host.ts';
import { gatewayPorts } from '../aws/ports.ts';
import { settlement, start } from '../compose/functions.ts';

export const handler = start(settlement, process.env, gatewayPorts(lambdaHost()));
