/** Connection to a gateway. The gateway signs; the client holds only a key or a token. */

import { refusesToken } from './answer.ts';
import { type Connection, checkBaseUrl, checkToken } from './connection.ts';
import { createTokens, type TokenSource } from './tokens.ts';

export interface GatewayConnectionOptions {
  /**
   * URL such as `https://api.example.com`; it includes the stage if the gateway has no domain of its own. http reaches this
   * machine alone: loopback, and `10.0.2.2` from the Android emulator.
   */
  readonly baseUrl: string;
  /**
   * For development: allows http to private hosts, such as `192.168.1.7` or a container's name. Everybody in that network
   * can then read key and token, and change what is sent. Default false.
   */
  readonly allowInsecureHttp?: boolean | undefined;
  /** Sent as `x-api-key`. */
  readonly apiKey?: string;
  /**
   * The user's access token, sent as `authorization: Bearer …`: a text, or a function that is called before each
   * request. When the gateway refuses the token with 401, the function is asked for a new one, and the request is sent
   * once more: after that 401 the first request is certain to have had no effect.
   */
  readonly token?: TokenSource | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Names problem+json, because a gateway sends a refusal's lists only to clients that accept it. */
const accept = 'application/problem+json, application/json';

/**
 * Connects a client to a gateway.
 *
 * @throws TypeError naming the option that is wrong
 * @example
 * const connection = viaGateway({ baseUrl: 'https://api.example.com', apiKey });
 * const client = createClient({ getStockSnapshots }, connection);
 * @example
 * // A user who has signed in with a library for OpenID Connect:
 * const connection = viaGateway({ baseUrl, apiKey, token: ({ renew }) => auth.accessToken({ forceRefresh: renew }) });
 */
export function viaGateway(options: GatewayConnectionOptions): Connection {
  const { apiKey, token, allowInsecureHttp = false } = options;
  const baseUrl = checkBaseUrl(options.baseUrl, allowInsecureHttp);
  // Throws for invalid headers here: with the first order the error would look like a lost answer.
  new Headers(options.headers);
  const fixed = {
    accept,
    ...options.headers,
    ...(apiKey !== undefined && { 'x-api-key': checkToken(apiKey, 'apiKey') }),
  };
  const tokens = token === undefined ? undefined : createTokens(token);
  return {
    baseUrl,
    fetch: options.fetch,
    async prepare({ operation: { method }, path, query, body, headers }) {
      const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
      return {
        method,
        url: `${baseUrl}${path}${search && `?${search}`}`,
        headers: {
          ...fixed,
          ...headers,
          ...bearer(await tokens?.current()),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body,
      };
    },
    async again(sent, answer) {
      if (!tokens || !refusesToken(answer)) return undefined;
      const token = await tokens.renewed(sent.headers.authorization?.slice(scheme.length));
      return token === undefined ? undefined : { ...sent, headers: { ...sent.headers, ...bearer(token) } };
    },
  };
}

const scheme = 'Bearer ';

const bearer = (token: string | undefined) =>
  token === undefined ? {} : { authorization: `${scheme}${token}` };
