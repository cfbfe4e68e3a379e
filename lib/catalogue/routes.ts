/** Route table: maps methods and paths to operations. */

import type { Operation } from './operation.ts';

export interface Route {
  readonly method: Operation['method'];
  readonly path: string;
  readonly operation: Operation;
}

/**
 * Lists every path of every operation, main path first.
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
 * Finds the route of a request, or the reason why there is none.
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

/** Number of differing words up to which a path counts as misspelt; beyond that it is another path. */
const maxDifference = 3;

/**
 * Finds the route whose path is most similar to an unknown one, for the text of a refusal. Undefined if none is close.
 *
 * @example
 * nearestRoute(routesOf(operations), '/openapi/market-data/stock/snapshots')?.path; // '/openapi/market-data/stock/snapshot'
 */
export function nearestRoute(routes: readonly Route[], path: string): Route | undefined {
  // No operation has so long a path; a sender may send any length.
  if (path.length > 200) return undefined;
  const words = wordsOf(path);
  let nearest: { readonly route: Route; readonly difference: number } | undefined;
  for (const route of routes) {
    const others = wordsOf(route.path);
    const difference = missingFrom(words, others) + missingFrom(others, words);
    if (difference < (nearest?.difference ?? maxDifference + 1) && difference < words.length)
      nearest = { route, difference };
  }
  return nearest?.route;
}

/** Splits a path into words, without regard to case and plural: some write `snapshots` for `snapshot`. */
const wordsOf = (path: string) =>
  path
    .toLowerCase()
    .split(/[/_-]+/)
    .filter(Boolean)
    .map((word) => word.replace(/s$/, ''));

const missingFrom = (words: readonly string[], others: readonly string[]) =>
  words.filter((word) => !others.includes(word)).length;
