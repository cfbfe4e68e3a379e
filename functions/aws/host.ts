/** What every function has of Lambda. */

import { sleep } from '../../lib/pauses.ts';
import type { Host } from '../compose/ports.ts';
import { writeLog } from '../log/log.ts';

export const lambdaHost = (): Host => ({
  functionName: process.env.AWS_LAMBDA_FUNCTION_NAME ?? '',
  log: writeLog,
  clock: Date.now,
  sleep,
});
