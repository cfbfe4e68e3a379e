/** The function that stops trading for an alarm. */

import { lambdaHost } from '../aws/host.ts';
import { tradingStopPorts } from '../aws/ports.ts';
import { start, tradingStop } from '../compose/functions.ts';

export const handler = start(tradingStop, process.env, tradingStopPorts(lambdaHost()));
