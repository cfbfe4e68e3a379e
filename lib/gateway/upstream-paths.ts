/** Replacement paths at the upstream, for the day on which it retires a path of the catalogue. */

import type { Operation } from '../catalogue/operation.ts';

/**
 * Paths by operation id. Clients use their paths as before; the gateway signs and sends every request of the operation
 * to the path given here.
 */
export type UpstreamPaths = Readonly<Record<string, string>>;

/**
 * @returns the fault in words, or undefined
 *
 * @example
 * upstreamPathsFault({ placeOrder: '/trading/orders/place' }, operations); // undefined
 */
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

/** Accepts only characters that are signed and sent alike, and no dot segment: the runtime resolves it before sending. */
const isUpstreamPath = (path: string) => /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(path);

/**
 * Keeps only the paths of the given operations, because a gateway refuses paths of others.
 *
 * @example
 * const upstreamPaths = upstreamPathsOf(allPaths, operations);
 */
export function upstreamPathsOf(
  paths: UpstreamPaths,
  operations: readonly Pick<Operation, 'id'>[],
): UpstreamPaths {
  return Object.fromEntries(
    Object.entries(paths).filter(([id]) => operations.some((operation) => operation.id === id)),
  );
}

/** Every path to which requests of the operations may be sent. */
export const sentPaths = (
  operations: readonly Pick<Operation, 'id' | 'path' | 'aliases'>[],
  paths: UpstreamPaths = {},
): readonly string[] =>
  operations.flatMap(({ id, path, aliases }) => {
    const other = Object.hasOwn(paths, id) ? paths[id] : undefined;
    return other === undefined ? [path, ...aliases] : [other];
  });
