/** The function that reads orders. */

import { journalPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { orderReads } from '../compose/order-offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(orderReads()), process.env, journalPorts(lambdaHost()));
