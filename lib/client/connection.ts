/** Port: a client's connection, which signs its requests or adds keys, and names their server. */

import type { ReceivedAnswer } from './answer.ts';
import type { ClientRequest } from './request.ts';

/** A request to send as it is, and once. */
export interface PreparedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Connection {
  /** URL to which paths are appended: a client checks its paths against it. */
  readonly baseUrl?: string;
  /**
   * Signs a request, or adds key and token to it. Called once for each request. Its errors reach the caller unchanged;
   * nothing was sent then.
   */
  prepare(request: ClientRequest): Promise<PreparedRequest>;
  /**
   * Prepares the request once more, with a new token, when the answer shows that nothing was done with it; even a request
   * with a side effect. `undefined`, or no such method: the answer stands. Errors reach the caller unchanged.
   */
  readonly again?: (sent: PreparedRequest, answer: ReceivedAnswer) => Promise<PreparedRequest | undefined>;
  /** Default: the runtime's own, read at each call. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** A text, or a function that is called before each request. */
export type TextSource = string | (() => string | Promise<string>);

const plainUrl = /^(https?):\/\/([^\s/\\?#@]+?)(?::\d+)?(\/[\w.~/-]*)?$/i;
/** Loopback, and the address by which the Android emulator reaches the loopback of its machine. */
const ownHost = /^(localhost|127(\.\d+){3}|\[::1]|10\.0\.2\.2)$/i;
/** Addresses that are never routed on the internet (RFC 1918, RFC 4193, link-local), and names without a dot or in `.local`. */
const privateHost =
  /^(10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|169\.254(\.\d+){2}|\[f[cde][^\]]*]|[a-z][\w-]*(\.local)?)$/i;

/**
 * Checks a base URL and cuts its last slashes. Uses a regular expression, as React Native's URL does not give its parts.
 * @param allowInsecureHttp whether http may reach private hosts; undefined for a connection that has no such option
 * @throws TypeError unless it is https, or http to an allowed host, with nothing after the path
 */
export function checkBaseUrl(text: string, allowInsecureHttp?: boolean): string {
  const [, scheme, host = ''] = plainUrl.exec(text) ?? [];
  const isAllowed = scheme && (/^https$/i.test(scheme) || ownHost.test(host));
  const isPrivate = allowInsecureHttp !== undefined && privateHost.test(host);
  if (isAllowed || (isPrivate && allowInsecureHttp)) return text.replace(/\/+$/, '');
  throw new TypeError(
    isPrivate
      ? `baseUrl: http to ${host} lets others in its network read keys and change orders; use https, or in development allowInsecureHttp: true`
      : 'baseUrl: https, or http on loopback, without credentials, query, fragment or characters to escape',
  );
}

/** Reads a secret. @throws TypeError for a text that a header would not carry unchanged; the message does not repeat it */
export async function textOf(source: TextSource, name: string): Promise<string> {
  return checkToken(typeof source === 'function' ? await source() : source, name);
}

export function checkToken(text: unknown, name: string): string {
  if (typeof text !== 'string' || !/^[!-~]+$/.test(text))
    throw new TypeError(`${name}: visible ASCII characters without spaces`);
  return text;
}
