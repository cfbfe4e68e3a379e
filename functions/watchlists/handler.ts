/** The function of the group watchlists. */

import { journalPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { group } from '../compose/group.ts';
import { watchlists } from '../compose/order-offers.ts';
import { start } from '../compose/start.ts';

export const handler = start(group(watchlists()), process.env, journalPorts(lambdaHost()));
