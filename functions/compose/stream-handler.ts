/** What a function does whose answers are streams: the head first, then each text when the client has taken the last. */

import type { Context } from 'aws-lambda';
import type { Gateway } from '../../lib/gateway/index.ts';
import type { NetworkPrefix } from '../../lib/identity/caller.ts';
import { type CorsOrigins, withCors } from '../events/cors.ts';
import { type ProxyEvent, toGatewayRequest } from '../events/rest-proxy.ts';
import { passOn, type Sink } from '../events/texts.ts';
import type { GroupHandler } from './group.ts';
import type { Host } from './ports.ts';

/** What stands before the first text. */
interface Head {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, boolean | number | string>>;
}

export type StreamHandler = (
  event: ProxyEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
  open: (head: Head) => Sink,
) => Promise<void>;

interface Served {
  readonly corsOrigins: CorsOrigins;
  readonly networkPrefix: NetworkPrefix | undefined;
}

export const streamHandler =
  (
    gateway: Pick<Gateway, 'handle'>,
    { corsOrigins, networkPrefix }: Served,
    { clock }: Pick<Host, 'clock'>,
  ): StreamHandler =>
  async (event, context, open) => {
    const request = await toGatewayRequest(event, networkPrefix);
    // A stream ends some seconds before it.
    const deadline = clock() + context.getRemainingTimeInMillis();
    const { status, headers, body, stream } = await gateway.handle({ ...request, deadline });
    const sink = open({
      statusCode: status,
      headers: withCors(headers, corsOrigins, request.headers.origin),
    });
    await passOn(stream ?? [body], sink);
  };

/** Of a function whose environment is wrong: the problem with which it refuses each request. */
export const refusingStreams =
  (refuse: GroupHandler): StreamHandler =>
  async (event, context, open) => {
    const { statusCode, headers = {}, body } = await refuse(event, context);
    await passOn([Buffer.from(body)], open({ statusCode, headers }));
  };
