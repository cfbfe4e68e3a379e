/** One key for all equivalent requests: the path's alias and the order of the parameters do not matter. */

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
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest, 0, 16), (byte) => byte.toString(16).padStart(2, '0'));
  return `${operationId}#${hex.join('')}`;
}
