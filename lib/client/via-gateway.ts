/** The connection to a gateway: it signs, so that a key or a token is all that a client holds. */

import { type Connection, checkBaseUrl, checkToken, type TextSource, textOf } from './connection.ts';

export interface GatewayConnectionOptions {
  /** With the stage in it, where there is one: `https://api.example.com/v1`. */
  readonly baseUrl: string;
  /** Sent as `x-api-key`. */
  readonly apiKey?: string;
  /** Sent as `authorization: Bearer …`; a function is asked before each request, and may refresh it. */
  readonly token?: TextSource;
  /** Sent with every request besides. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/** @throws TypeError naming the option that is wrong */
export function viaGateway(options: GatewayConnectionOptions): Connection {
  const { apiKey, token } = options;
  const baseUrl = checkBaseUrl(options.baseUrl);
  // Here, rather than at the first order, where a failure to send is hard to tell from a lost answer.
  new Headers(options.headers);
  const fixed = {
    ...options.headers,
    ...(apiKey !== undefined && { 'x-api-key': checkToken(apiKey, 'apiKey') }),
  };
  return {
    ...(options.fetch && { fetch: options.fetch }),
    async prepare({ operation: { method }, path, query, body, headers }) {
      const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
      return {
        method,
        url: `${baseUrl}${path}${search && `?${search}`}`,
        headers: {
          ...fixed,
          ...headers,
          ...(token !== undefined && { authorization: `Bearer ${await textOf(token, 'token')}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      };
    },
  };
}
