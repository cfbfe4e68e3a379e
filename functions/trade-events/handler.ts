/** The listener of trade and position events. */

import { lambdaHost, tradeEventPorts } from '../aws/ports.ts';
import { start, tradeEvents } from '../compose/functions.ts';

export const handler = start(tradeEvents, process.env, tradeEventPorts(lambdaHost()));
