/** Checks the URLs of an upstream and of its streams: one rule for every reader of configuration. */

import { isPlainPath, isPrivate } from '../signer/request.ts';

/** Converts a base URL to the form to which a path is appended. */
export function normalBaseUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/**
 * Checks an upstream's base URL.
 *
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
 * Finds a base URL that ends with a part with which the paths begin: every request would have that part twice, and find
 * nothing. Works on text, because React Native's URL does not give its parts.
 *
 * @param paths paths that are appended to the base URL
 * @returns the fault in words, with what to write instead; undefined without one
 *
 * @example
 * doubledPathFault('https://api.example.com/openapi', ['/openapi/assets/balance']);
 * // 'it ends with /openapi, with which paths begin: write https://api.example.com'
 */
export function doubledPathFault(baseUrl: string | undefined, paths: readonly string[]): string | undefined {
  // At API Gateway's own hosts the first part of the path is a stage, which may have any name.
  const [, host, prefix = ''] =
    /^(.*?:\/\/(?:[^/]*\.execute-api\.[^/]*\/)?[^/]*)(.*?)\/*$/.exec(baseUrl ?? '') ?? [];
  for (let at = 0; at < prefix.length; at++) {
    const end = prefix.slice(at);
    if (end[0] === '/' && paths.some((path) => `${path}/`.startsWith(`${end}/`)))
      return `it ends with ${end}, with which paths begin: write ${host}${prefix.slice(0, at)}`;
  }
  return undefined;
}

/** Checks the URL of an event stream: the fault in words, or undefined. */
export function eventsUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'is no URL';
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    return 'has more than a host and a port';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'is neither https nor http';
  return isPrivate(url) ? undefined : 'is http, and not on a loopback address';
}

/** Checks the URL of the market stream's broker: the fault in words, or undefined. */
export function marketStreamUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'is no URL';
  const isWebSocket = url.protocol === 'wss:' || url.protocol === 'ws:';
  if ((!isWebSocket && /[^/]/.test(url.pathname)) || url.search || url.hash || url.username || url.password)
    return 'has more than a host and a port';
  if (url.protocol === 'mqtts:' || url.protocol === 'wss:') return undefined;
  if (url.protocol !== 'mqtt:' && url.protocol !== 'ws:') return 'is none of mqtts, wss, mqtt and ws';
  // The URL parser normalises the host of http URLs alone: a loopback address can be written in many ways.
  return isPrivate(new URL(text.replace(/^\w+/, 'http')))
    ? undefined
    : 'is not encrypted, and not on a loopback address';
}
