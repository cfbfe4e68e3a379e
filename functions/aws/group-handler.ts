/** The handler of one endpoint group: what Lambda runs, and what the local run drives. */

import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { createGateway, type GatewayOptions, type NetworkPrefix } from '../../lib/gateway/index.ts';
import { type CorsOrigins, withCors } from './cors.ts';
import { fitsLambda } from './payload.ts';
import { type ProxyEvent, toGatewayRequest, toProxyResult } from './rest-proxy.ts';

export type GroupHandler = (
  event: ProxyEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<APIGatewayProxyResult>;

export interface GroupOptions extends GatewayOptions {
  /** Default: none, so that no script in a browser reads an answer. */
  readonly corsOrigins?: CorsOrigins;
  /** The part of a client's address that names its network: requests of one key and network are one caller's. */
  readonly networkPrefix?: NetworkPrefix;
}

/** From the end of an attempt to the function's return. */
const marginMs = 500;

/** @throws TypeError for options that no request could be served with */
export function createGroupHandler({
  corsOrigins = [],
  networkPrefix,
  ...options
}: GroupOptions): GroupHandler {
  const { clock = Date.now } = options;
  const gateway = createGateway({ canCarry: fitsLambda, ...options });
  return async (event, context) => {
    const request = await toGatewayRequest(event, networkPrefix);
    // An attempt ends before the function does, so that the client receives the gateway's answer.
    const deadline = clock() + context.getRemainingTimeInMillis() - marginMs;
    const { headers, ...response } = await gateway.handle({ ...request, deadline });
    return toProxyResult({ ...response, headers: withCors(headers, corsOrigins, request.headers.origin) });
  };
}
