/** The function that settles orders whose outcome stayed unknown. */

import { settlementPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { settlement } from '../compose/settlement.ts';
import { start } from '../compose/start.ts';

export const handler = start(settlement, process.env, settlementPorts(lambdaHost()));
