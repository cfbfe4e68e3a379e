/**
 * The connection to the interface itself, for a server that holds the app secret; never for an app. A signer
 * needs WebCrypto: use a gateway in runtimes without it (React Native among them).
 */

import { takesToken } from '../catalogue/groups.ts';
import type { Signer } from '../signer/signer.ts';
import { type Connection, checkBaseUrl, type TextSource, textOf } from './connection.ts';
import { InvalidRequestError } from './errors.ts';

export interface DirectConnectionOptions {
  readonly baseUrl: string;
  /** Result of `createSigner`. An option, not an import, so that a client behind a gateway bundles no signer. */
  readonly signer: Signer;
  /** Sent as `x-access-token`, needed where two-factor checking is on; token operations and `getConfig` go without. */
  readonly accessToken?: TextSource | undefined;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Connects a client to the interface with a signer.
 *
 * @throws TypeError naming the option that is wrong
 * @example
 * const signer = createSigner({ appKey, appSecret });
 * const client = createClient({ listAccounts }, direct({ baseUrl, signer }));
 * const accounts = await client.listAccounts();
 */
export function direct({ signer, accessToken, fetch, ...options }: DirectConnectionOptions): Connection {
  const baseUrl = checkBaseUrl(options.baseUrl);
  return {
    baseUrl,
    fetch,
    async prepare({ operation, path, query, body, headers }) {
      if ('idempotency-key' in headers) {
        const fault = { in: 'header', name: 'idempotency-key', detail: 'is known to gateways only' } as const;
        throw new InvalidRequestError(operation.id, [fault]);
      }
      // The operations that issue tokens, and the one that says whether a token is needed, are called without one.
      const token = takesToken(operation.group) ? accessToken : undefined;
      const sent = token === undefined ? undefined : await textOf(token, 'accessToken');
      // Signs last, because a signature is valid for some minutes only.
      const signed = await signer.sign({
        method: operation.method,
        url: `${baseUrl}${path}`,
        query,
        body,
      });
      return {
        ...signed,
        headers: { ...headers, ...(sent !== undefined && { 'x-access-token': sent }), ...signed.headers },
      };
    },
  };
}
