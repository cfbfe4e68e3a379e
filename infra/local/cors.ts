/** CORS of the local API Gateway's own answers; handlers add it to theirs. */

import type { CorsOrigins } from '../../functions/events/cors.ts';
import { type CorsHeaders, originHeaders, preflightHeaders, refusalHeaders } from '../api-gateway-answers.ts';
import type { HttpResponse } from './proxy-result.ts';

export interface LocalCors {
  /**
   * @param headers that the path allows besides those of every path
   * @returns undefined without CORS: OPTIONS is then a method that the path lacks
   */
  preflight(headers: readonly string[], origin: string | undefined): HttpResponse | undefined;
  /** Adds CORS headers to the answer of a page or a form. */
  answer(response: HttpResponse, origin: string | undefined): HttpResponse;
  readonly ofRefusal: CorsHeaders;
}

export function createLocalCors(corsOrigins: CorsOrigins): LocalCors {
  const origins = corsOrigins === '*' ? ['*'] : corsOrigins;
  const answer: LocalCors['answer'] = (response, origin) =>
    withHeaders(response, originHeaders(origins, origin));
  return {
    preflight(headers, origin) {
      if (origins.length === 0) return undefined;
      const empty = { status: 204, headers: new Map(), body: Buffer.from('') };
      return answer(withHeaders(empty, preflightHeaders({ headers })), origin);
    },
    answer,
    ofRefusal: refusalHeaders(origins),
  };
}

function withHeaders(response: HttpResponse, more: CorsHeaders): HttpResponse {
  const headers = new Map(response.headers);
  for (const [name, value] of Object.entries(more)) {
    const key = name.toLowerCase();
    headers.set(key, key === 'vary' ? [[...(headers.get(key) ?? []), value].join(', ')] : [value]);
  }
  return { ...response, headers };
}
