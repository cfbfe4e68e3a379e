/** The listener of trade and position events. */

import { tradeEventPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { start } from '../compose/start.ts';
import { tradeEvents } from '../compose/trade-events.ts';

export const handler = start(tradeEvents, process.env, tradeEventPorts(lambdaHost()));
