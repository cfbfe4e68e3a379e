/** The function of the group orders. */

import { orderPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { orders } from '../compose/order-offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(orders()), process.env, orderPorts(lambdaHost()));
