/** The handler of one endpoint group: what Lambda runs, and what the local run drives. */

import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { createGateway, type GatewayOptions } from '../lib/gateway/index.ts';
import { type ProxyEvent, toGatewayRequest, toProxyResult } from './aws/rest-proxy.ts';

export type GroupHandler = (event: ProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** @throws TypeError for options that no request could be served with */
export function createGroupHandler(options: GatewayOptions): GroupHandler {
  const gateway = createGateway(options);
  return async (event) => toProxyResult(await gateway.handle(toGatewayRequest(event)));
}
