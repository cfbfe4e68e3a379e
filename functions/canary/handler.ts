/** The function that asks the API for a quote on a schedule, as a client does. */

import { canaryPorts, lambdaHost } from '../aws/ports.ts';
import { canary } from '../compose/canary.ts';
import { start } from '../compose/start.ts';

export const handler = start(canary, process.env, canaryPorts(lambdaHost()));
