/** The function that stops trading for an alarm. */

import { tradingStopPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { start } from '../compose/start.ts';
import { tradingStop } from '../compose/trading-stop.ts';

export const handler = start(tradingStop, process.env, tradingStopPorts(lambdaHost()));
