/** The function of streams of trade events. */

import { orderStreamPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { streaming } from '../aws/response-stream.ts';
import { orderStreams } from '../compose/order-streams.ts';
import { start } from '../compose/start.ts';

export const handler = streaming(start(orderStreams, process.env, orderStreamPorts(lambdaHost())));
