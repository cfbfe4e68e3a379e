/** Other paths at the upstream: for the day on which it retires the one that the catalogue knows. */

import type { Operation } from '../catalogue/operation.ts';

/**
 * Paths by operation id. Clients' paths stay as they are; whichever of them a request came by, it is signed
 * for and sent to the path given here.
 */
export type UpstreamPaths = Readonly<Record<string, string>>;

/** In words what is wrong with them, or undefined. */
export function upstreamPathsFault(
  paths: unknown,
  operations: readonly Pick<Operation, 'id'>[],
): string | undefined {
  if (typeof paths !== 'object' || paths === null || Array.isArray(paths))
    return 'not an object of paths by operation id';
  for (const [id, path] of Object.entries(paths)) {
    if (!operations.some((operation) => operation.id === id)) return `no operation here is called ${id}`;
    if (typeof path !== 'string' || !isUpstreamPath(path))
      return `the path of ${id} is not like /trading/orders/place`;
  }
  return undefined;
}

/** Signed and sent in the same characters; a dot segment would be resolved before it is sent. */
const isUpstreamPath = (path: string) => /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(path);

/** Those of the given operations: a gateway is told of its own only. */
export function upstreamPathsOf(
  paths: UpstreamPaths,
  operations: readonly Pick<Operation, 'id'>[],
): UpstreamPaths {
  return Object.fromEntries(
    Object.entries(paths).filter(([id]) => operations.some((operation) => operation.id === id)),
  );
}
