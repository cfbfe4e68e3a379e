/** The function of cancels: its instances wait neither for orders that are placed nor for reads. */

import { journalPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { orderCancels } from '../compose/order-offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(orderCancels()), process.env, journalPorts(lambdaHost()));
