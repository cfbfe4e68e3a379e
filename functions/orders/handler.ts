/** The function of the group orders. */

import { lambdaHost, orderPorts } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { orders } from '../compose/offers.ts';

export const handler = start(group(orders()), process.env, orderPorts(lambdaHost()));
