/** The connection to a gateway, which signs: the client holds only a key or a token. */

import { type Connection, checkBaseUrl, checkToken, type TextSource, textOf } from './connection.ts';

export interface GatewayConnectionOptions {
  /** `https://api.example.com`; without a domain of the gateway's own, its stage is part of it. */
  readonly baseUrl: string;
  /** Sent as `x-api-key`. */
  readonly apiKey?: string;
  /** Sent as `authorization: Bearer …`; a function is called before each request, and may refresh it. */
  readonly token?: TextSource;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Named, because a gateway sends the lists of a refusal only to clients that read problem+json. */
const accept = 'application/problem+json, application/json';

/**
 * Connects a client to a gateway.
 *
 * @throws TypeError naming the option that is wrong
 * @example
 * const connection = viaGateway({ baseUrl: 'https://api.example.com', apiKey });
 * const client = createClient({ getStockSnapshots }, connection);
 */
export function viaGateway(options: GatewayConnectionOptions): Connection {
  const { apiKey, token } = options;
  const baseUrl = checkBaseUrl(options.baseUrl);
  // Wrong headers fail here: at the first order that failure would look like a lost answer.
  new Headers(options.headers);
  const fixed = {
    accept,
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
