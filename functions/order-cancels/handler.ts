/** The function of cancels: its instances wait neither for orders that are placed nor for reads. */

import { journalPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { orderCancels } from '../compose/offers.ts';

export const handler = start(group(orderCancels()), process.env, journalPorts(lambdaHost()));
