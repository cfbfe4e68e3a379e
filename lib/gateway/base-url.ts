/** What an upstream's base URL may be; asked by the gateway and by whoever reads configuration. */

import { isPlainPath, isPrivate } from '../signer/request.ts';

/** The form that paths are put after. */
export function normalBaseUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** In words what is wrong with it, or undefined. */
export function baseUrlFault(text: string): string | undefined {
  // An empty query or fragment, and what parsers trim or turn, leaves no trace in the parsed form.
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
