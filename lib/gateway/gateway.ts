/** Creates a gateway with all its steps from plain options. A bundle that needs fewer steps uses `core.ts`. */

import { cacheStep } from './cache.ts';
import { createCore, type Gateway } from './core.ts';
import type { GatewayOptions } from './options.ts';
import { ordersStep } from './order-hand-over.ts';
import { accessStep } from './who.ts';

export type { Gateway } from './core.ts';

/**
 * @throws TypeError when an operation belongs to an account and `access` is missing, when the base URL is neither https
 * nor loopback or has a query, when one of `upstreamPaths` is not a path, or when a limit does not fit its operations
 *
 * @example
 * const gateway = createGateway({
 *   operations,
 *   upstreamBaseUrl: 'https://api.example.com',
 *   secrets: { read: async () => '{"app_key":"…","app_secret":"…"}' },
 *   access: 'single-user',
 * });
 * const { status, headers, body } = await gateway.handle({
 *   method: 'GET',
 *   path: '/trading/accounts/list',
 *   query: [],
 *   headers: {},
 *   requestId: 'request-1',
 * });
 */
export const createGateway = ({ access, cache, orders, ...base }: GatewayOptions): Gateway =>
  createCore({
    ...base,
    ...(access && { access: access === 'single-user' ? access : accessStep(access) }),
    ...(cache && { cache: cacheStep(cache) }),
    ...(orders && { orders: ordersStep(orders) }),
  });
