/** Answers that the local run gives without a key: pages, and the forms that they send. */

import type { HttpResponse } from './proxy-result.ts';

export interface PageRequest {
  readonly query: URLSearchParams;
  /** Value of the header, unchanged. */
  readonly accept: string | undefined;
  readonly requestId: string;
}

/** Makes a page on request. @returns undefined if there is none for this request */
export type LocalPage = (
  request: PageRequest,
) => HttpResponse | undefined | Promise<HttpResponse | undefined>;

/** Answers a submitted form. @param accept the header, unchanged */
export type FormPage = (fields: URLSearchParams, accept: string | undefined) => Promise<HttpResponse>;

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
};

/** @param kind the file name's extension */
export function page(kind: string, body: string | Uint8Array, policy: string): HttpResponse {
  return {
    status: 200,
    headers: new Map(
      Object.entries({
        'content-type': mediaTypes[kind] ?? 'application/octet-stream',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      }).map(([name, value]) => [name, [value]]),
    ),
    body: Buffer.from(body),
  };
}
