/** The function of the group watchlists. */

import { journalPorts, lambdaHost } from '../aws/ports.ts';
import { group, start } from '../compose/functions.ts';
import { watchlists } from '../compose/offers.ts';

export const handler = start(group(watchlists()), process.env, journalPorts(lambdaHost()));
