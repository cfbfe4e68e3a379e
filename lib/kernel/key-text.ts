/** Encodings whose texts need no escapes in keys, URLs and logs. */

/**
 * SHA-256, for keys that must not reveal their source. The signer has a copy of its own: it imports nothing from outside,
 * so that its folder can be copied out.
 *
 * @returns 64 lower-case digits
 */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Base64url of the bytes, without padding.
 *
 * @example
 * base64url(new Uint8Array([255, 239])); // '_-8'
 */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
