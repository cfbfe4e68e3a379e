/** Which base URLs can be used, of an upstream and of its event stream: one rule for every reader of configuration. */

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

/**
 * A base URL that ends with what paths begin with: every request would have that part twice, and find nothing. Works on text, because React Native's URL does not give its parts.
 *
 * @param paths that are appended to the base URL
 * @returns the fault in words, with what to write instead; undefined without one
 *
 * @example
 * doubledPathFault('https://api.example.com/openapi', ['/openapi/assets/balance']);
 * // 'it ends with /openapi, with which paths begin: write https://api.example.com'
 */
export function doubledPathFault(baseUrl: string | undefined, paths: readonly string[]): string | undefined {
  // The first part at API Gateway's own hosts is a stage, which may have any name.
  const [, host, prefix = ''] =
    /^(.*?:\/\/(?:[^/]*\.execute-api\.[^/]*\/)?[^/]*)(.*?)\/*$/.exec(baseUrl ?? '') ?? [];
  for (let at = 0; at < prefix.length; at++) {
    const end = prefix.slice(at);
    if (end[0] === '/' && paths.some((path) => `${path}/`.startsWith(`${end}/`)))
      return `it ends with ${end}, with which paths begin: write ${host}${prefix.slice(0, at)}`;
  }
  return undefined;
}

/** What is wrong with the URL of an event stream, if anything is. */
export function eventsUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'is no URL';
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    return 'has more than a host and a port';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'is neither https nor http';
  return isPrivate(url) ? undefined : 'is http, and not on a loopback address';
}

/** What is wrong with the URL of the market stream's broker, if anything is. */
export function marketStreamUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'is no URL';
  const isWebSocket = url.protocol === 'wss:' || url.protocol === 'ws:';
  if ((!isWebSocket && /[^/]/.test(url.pathname)) || url.search || url.hash || url.username || url.password)
    return 'has more than a host and a port';
  if (url.protocol === 'mqtts:' || url.protocol === 'wss:') return undefined;
  if (url.protocol !== 'mqtt:' && url.protocol !== 'ws:') return 'is none of mqtts, wss, mqtt and ws';
  // The parser knows the host of http alone for what it is: it writes the one loopback address in many ways.
  return isPrivate(new URL(text.replace(/^\w+/, 'http')))
    ? undefined
    : 'is not encrypted, and not on a loopback address';
}
