/** Bytes as text that stands in keys, URLs and logs without escapes. */

/**
 * Without padding.
 *
 * @example
 * base64url(new Uint8Array([255, 239])); // '_-8'
 */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
