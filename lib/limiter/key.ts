/** The name of an app key's item in the store. */

/**
 * Made of what the deployer and the secret say, and of nothing that a client sends. The app key cannot be
 * read from it.
 */
export async function limiterKey(bucket: string, appKey: string): Promise<string> {
  const text = JSON.stringify(['countersign budget', bucket, appKey]);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  const hex = Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${bucket}#${hex}`;
}
