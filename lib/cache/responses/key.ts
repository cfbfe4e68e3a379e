/** One key for all equivalent requests: the path's alias and the order of the parameters do not matter. */

import { sha256Hex } from '../../sha256.ts';

/**
 * @param query valid: in the form that is sent
 * @param body compact JSON, empty for none; another order of its members counts as another request
 */
export async function responseKey(
  operationId: string,
  query: readonly (readonly [name: string, value: string])[],
  body: string,
): Promise<string> {
  const pairs = [...query].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const text = JSON.stringify([operationId, pairs, body]);
  // 128 bits are enough for a name.
  return `${operationId}#${(await sha256Hex(text)).slice(0, 32)}`;
}
