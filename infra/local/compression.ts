/**
 * Compresses as API Gateway does: responses from a certain size on, unless they are encoded already, for clients that name
 * gzip and prefer no coding that API Gateway lacks.
 */

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { minimumCompressionBytes } from '../api-gateway-answers.ts';
import type { HttpResponse } from './proxy-result.ts';

const gzipAsync = promisify(gzip);

/** @param accepted the header `accept-encoding` of the request */
export async function compressed(
  response: HttpResponse,
  accepted: string | undefined,
): Promise<HttpResponse> {
  const { headers, body } = response;
  if (body.length < minimumCompressionBytes || headers.has('content-encoding')) return response;
  const all = new Map(headers);
  // AWS does not document this for API Gateway. An uncompressed response has the header, too: a cache on the way must
  // give neither form to a client that asked for the other.
  all.set('vary', [[...(headers.get('vary') ?? []), 'accept-encoding'].join(', ')]);
  if (!prefersGzip(accepted)) return { ...response, headers: all };
  return { ...response, headers: all.set('content-encoding', ['gzip']), body: await gzipAsync(body) };
}

/**
 * Tells whether gzip is named, and nothing is preferred to it. API Gateway does not compress for clients that send
 * `br;q=1.0, gzip;q=0.9`: it takes their first preference, which it does not support. Nor does `*` mean gzip.
 */
export function prefersGzip(accepted = ''): boolean {
  const weights = new Map(
    accepted.split(',').map((part) => {
      const [coding = '', ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return [coding, weight === undefined ? 1 : Number(weight.slice(2))] as const;
    }),
  );
  const gzip = weights.get('gzip') ?? 0;
  return gzip > 0 && [...weights.values()].every((weight) => !(weight > gzip));
}
