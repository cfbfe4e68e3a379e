/** The function of streams of quotes. */

import { lambdaHost, streamPorts } from '../aws/ports.ts';
import { shareRuntime, streaming } from '../aws/response-stream.ts';
import { quoteStreams } from '../compose/quote-streams.ts';
import { start } from '../compose/start.ts';

const host = lambdaHost();
shareRuntime(process.env, host.log);

export const handler = streaming(start(quoteStreams, process.env, streamPorts(host)));
