/** A `fetch` that signs a request and sends it once. Call it again for another attempt: that gets a new signature. */

import type { SignInput } from './request.ts';
import type { Signer } from './signer.ts';

export interface SignedFetchInit extends Omit<SignInput, 'url'> {
  /** Sent besides the signing headers, unsigned; a signing header among them is overwritten. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly signal?: AbortSignal;
}

export type SignedFetch = (url: string | URL, init?: SignedFetchInit) => Promise<Response>;

export interface SignedFetchOptions {
  readonly signer: Signer;
  /** Default: the runtime's own, read at each call. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * The returned function rejects with a SignError before anything is sent, or as `fetch` does.
 *
 * @example
 * const signedFetch = createSignedFetch({ signer: createSigner({ appKey, appSecret }) });
 * const response = await signedFetch(`${baseUrl}/openapi/market-data/stock/snapshot`, {
 *   query: { symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' },
 * });
 */
export function createSignedFetch({ signer, fetch: send }: SignedFetchOptions): SignedFetch {
  return async (url, { headers: extra, signal, ...input } = {}) => {
    const signed = await signer.sign({ ...input, url });
    const headers = new Headers(extra);
    // The URL's host is signed. Some runtimes would send the caller's header instead.
    headers.delete('host');
    for (const [name, value] of Object.entries(signed.headers)) headers.set(name, value);
    return (send ?? fetch)(signed.url, {
      method: signed.method,
      headers,
      // Host and path are signed: a redirected request would not verify, and would carry the app key elsewhere.
      redirect: 'manual',
      ...(signed.body !== undefined && { body: signed.body }),
      ...(signal && { signal }),
    });
  };
}
