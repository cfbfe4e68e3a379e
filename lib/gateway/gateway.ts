/** The gateway with all that it can have, out of plain options. A bundle that does without a part of it uses `core.ts`. */

import { cacheStep } from './cache.ts';
import { createCore, type Gateway } from './core.ts';
import type { GatewayOptions } from './options.ts';
import { ordersStep } from './order-hand-over.ts';
import { accessStep } from './who.ts';

export type { Gateway } from './core.ts';

/**
 * @throws TypeError when an operation belongs to an account and `access` does not say who may use it, when the base URL
 * is neither https nor loopback, or has a query, when a path is not one, or when a limit does not fit the operations that
 * it is for
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
