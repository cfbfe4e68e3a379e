/** Creates a gateway with all its steps from plain options. A bundle that needs fewer steps uses `core.ts`. */

import type { OrdersOptions } from '../orders/hand-over.ts';
import { cacheStep } from './cache.ts';
import type { CacheOptions } from './cache-options.ts';
import { createCore, type Gateway } from './core.ts';
import type { BaseOptions } from './options.ts';
import { ordersStep } from './orders/step.ts';
import { type AccessOptions, accessStep } from './who.ts';

export type { Gateway } from './core.ts';

export interface GatewayOptions extends BaseOptions {
  /**
   * Identifies callers and grants them accounts; required when an operation belongs to an account. `single-user` checks
   * nothing: it is for a gateway whose every caller is the holder of the app key.
   */
  readonly access?: AccessOptions | 'single-user';
  /** Stores of the cache that all instances share. Default: none, and every read goes to the upstream. */
  readonly cache?: CacheOptions;
  /**
   * The journal of orders, which all instances share. No order is sent without an entry, and a repeated order is answered
   * with the outcome of the first. Default: none, and each request with a side effect is sent once.
   */
  readonly orders?: OrdersOptions;
}

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
