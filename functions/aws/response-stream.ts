/** Answers as they come, of Lambda's Node runtime: two globals of it, which are there before a handler's file is read. */

import type { StreamHandler } from '../compose/stream-handler.ts';
import type { ProxyEvent } from '../events/rest-proxy.ts';

/**
 * Marks the handler, so that the runtime gives it a stream in place of waiting for what it returns.
 *
 * @example export const handler = streaming(start(quoteStreams, process.env, streamPorts(lambdaHost())));
 */
export const streaming = (handler: StreamHandler) =>
  awslambda.streamifyResponse<ProxyEvent>((event, stream, context) =>
    // What stands before the first text as JSON, and eight zero bytes after it: API Gateway makes status and headers of it.
    handler(event, context, (head) => awslambda.HttpResponseStream.from(stream, { ...head })),
  );
