/** The route table: which method and path means which operation. */

import type { Operation } from './operation.ts';

export interface Route {
  readonly method: Operation['method'];
  readonly path: string;
  readonly operation: Operation;
}

/**
 * Every path of every operation, main path first.
 *
 * @example
 * const routes = routesOf(operations);
 */
export function routesOf(operations: readonly Operation[]): readonly Route[] {
  return operations.flatMap((operation) =>
    [operation.path, ...operation.aliases].map((path) => ({ method: operation.method, path, operation })),
  );
}

export type RouteMatch =
  | { readonly kind: 'route'; readonly route: Route }
  /** The path exists, with these other methods only. */
  | { readonly kind: 'other-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

/**
 * The route of a request, or why there is none.
 *
 * @example
 * const match = findRoute(routesOf(operations), 'GET', '/openapi/market-data/stock/snapshot');
 * if (match.kind === 'route') console.log(match.route.operation.id); // getStockSnapshots
 */
export function findRoute(routes: readonly Route[], method: string, path: string): RouteMatch {
  const here = routes.filter((route) => route.path === path);
  const route = here.find((candidate) => candidate.method === method);
  if (route) return { kind: 'route', route };
  if (here.length > 0) return { kind: 'other-method', allowed: here.map((candidate) => candidate.method) };
  return { kind: 'unknown' };
}
