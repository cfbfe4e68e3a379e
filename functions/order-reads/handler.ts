/** The function that reads orders. */

import { journalPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { orderReads } from '../compose/offers.ts';

export const handler = start(group(orderReads()), process.env, journalPorts(lambdaHost()));
