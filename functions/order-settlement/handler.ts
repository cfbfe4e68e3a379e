/** The function that settles orders whose outcome stayed unknown. */

import { journalPorts, lambdaHost } from '../aws/ports.ts';
import { settlement, start } from '../compose/functions.ts';

export const handler = start(settlement, process.env, journalPorts(lambdaHost()));
