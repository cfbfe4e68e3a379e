/** A `fetch` that signs. It sends once; who wants another attempt calls again and gets a new signature. */

import type { SignInput } from './request.ts';
import type { Signer } from './signer.ts';

export interface SignedFetchInit extends Omit<SignInput, 'url'> {
  /** Sent besides the signing headers, unsigned; a signing header among them is overwritten. */
  readonly headers?: HeadersInit;
  readonly signal?: AbortSignal;
}

export type SignedFetch = (url: string | URL, init?: SignedFetchInit) => Promise<Response>;

export interface SignedFetchOptions {
  readonly signer: Signer;
  /** Default: the runtime's own, looked up at each call. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * The returned function rejects with a SignError before anything is sent, or as `fetch` does.
 */
export function createSignedFetch({ signer, fetch: send }: SignedFetchOptions): SignedFetch {
  return async (url, { headers: extra, signal, ...input } = {}) => {
    const signed = await signer.sign({ ...input, url });
    const headers = new Headers(extra);
    // It follows from the URL; some runtimes would send another one, which is not the one that is signed.
    headers.delete('host');
    for (const [name, value] of Object.entries(signed.headers)) headers.set(name, value);
    return (send ?? fetch)(signed.url, {
      method: signed.method,
      headers,
      // Host and path are signed: a redirect could not verify, and would carry the key elsewhere.
      redirect: 'manual',
      ...(signed.body !== undefined && { body: signed.body }),
      ...(signal && { signal }),
    });
  };
}
