/** The listener of the market stream. */

import { marketStreamPorts } from '../aws/market-stream-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { marketStream } from '../compose/market-stream.ts';
import { start } from '../compose/start.ts';

export const handler = start(marketStream, process.env, marketStreamPorts(lambdaHost()));
