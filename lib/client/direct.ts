/**
 * The connection to the interface itself, for those who hold the app secret: a server, never an app. Where
 * the runtime has no WebCrypto (React Native among them) a signer cannot work: use a gateway there.
 */

import type { Signer } from '../signer/signer.ts';
import { type Connection, checkBaseUrl, type TextSource, textOf } from './connection.ts';

export interface DirectConnectionOptions {
  readonly baseUrl: string;
  /** Of `createSigner`. It is given, not imported, so that a client behind a gateway need not bring one. */
  readonly signer: Signer;
  /** Sent as `x-access-token` where two-factor checking is on; token operations go without. */
  readonly accessToken?: TextSource;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/** @throws TypeError naming the option that is wrong */
export function direct({ signer, accessToken, fetch, ...options }: DirectConnectionOptions): Connection {
  const baseUrl = checkBaseUrl(options.baseUrl);
  return {
    ...(fetch && { fetch }),
    async prepare({ operation, path, query, body, headers }) {
      // A token cannot be asked of those who come to get one.
      const token = operation.group === 'auth' ? undefined : accessToken;
      const sent = token === undefined ? undefined : await textOf(token, 'accessToken');
      // Last, because what is signed is good for some minutes only.
      const signed = await signer.sign({
        method: operation.method,
        url: `${baseUrl}${path}`,
        query,
        ...(body !== undefined && { body }),
      });
      return {
        ...signed,
        headers: { ...headers, ...(sent !== undefined && { 'x-access-token': sent }), ...signed.headers },
      };
    },
  };
}
