/** The rules for an upstream's base URL, for the gateway and for every reader of configuration. */

import { isPlainPath, isPrivate } from '../signer/request.ts';

/** The form to which a path is appended. */
export function normalBaseUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/**
 * @returns the fault in words, or undefined
 *
 * @example
 * baseUrlFault('https://api.example.com/v1'); // undefined
 * baseUrlFault('http://api.example.com'); // 'http is for loopback addresses only; use https'
 */
export function baseUrlFault(text: string): string | undefined {
  // The parsed form shows neither an empty query or fragment nor characters that the parser trims or replaces.
  if (/[?#]/.test(text)) return 'a query or fragment does not belong in it';
  if (/[\\\s]/.test(text)) return 'a backslash or space cannot be signed';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'not an absolute URL';
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'neither https nor http';
  if (!isPrivate(url)) return 'http is for loopback addresses only; use https';
  if (url.username || url.password) return 'credentials do not belong in it';
  if (!isPlainPath(url.pathname)) return 'its path has characters that cannot be signed';
  return undefined;
}
