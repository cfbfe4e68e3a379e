/** The listener of trade and position events. */

import { lambdaHost } from '../aws/host.ts';
import { tradeEventPorts } from '../aws/ports.ts';
import { start, tradeEvents } from '../compose/functions.ts';

export const handler = start(tradeEvents, process.env, tradeEventPorts(lambdaHost()));
