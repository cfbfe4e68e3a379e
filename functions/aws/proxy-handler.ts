/** Runs your own gateway as a Lambda function behind a REST API of API Gateway. */

import type { Gateway } from '../../lib/gateway/index.ts';
import type { NetworkPrefix } from '../../lib/identity/caller.ts';
import { type GroupHandler, groupHandler } from '../compose/group.ts';
import type { CorsOrigins } from '../events/cors.ts';

export interface ProxyHandlerOptions {
  /** Origins whose scripts may read an answer. Default none. */
  readonly corsOrigins?: CorsOrigins;
  /** Part of a client's address that names its network: requests of one key and network count as one caller's. */
  readonly networkPrefix?: NetworkPrefix;
  /** Now, in milliseconds since the epoch: the same clock as the gateway's. */
  readonly clock?: () => number;
}

/**
 * Creates a handler for proxy events of payload version 1.0.
 *
 * @example
 * const gateway = createGateway({ operations, upstreamBaseUrl, secrets });
 * export const handler = createProxyHandler(gateway);
 */
export const createProxyHandler = (
  gateway: Pick<Gateway, 'handle'>,
  { corsOrigins = [], networkPrefix, clock = Date.now }: ProxyHandlerOptions = {},
): GroupHandler =>
  groupHandler(gateway, { corsOrigins, cache: networkPrefix && { networkPrefix } }, { clock });
