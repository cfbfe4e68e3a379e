/** The function that stops trading for an alarm. */

import { lambdaHost, tradingStopPorts } from '../aws/ports.ts';
import { start, tradingStop } from '../compose/functions.ts';

export const handler = start(tradingStop, process.env, tradingStopPorts(lambdaHost()));
