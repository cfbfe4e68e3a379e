/**
 * Compression as API Gateway does it: of responses from a certain size on, unless they are encoded already, for
 * clients that ask for gzip by name and prefer nothing that API Gateway does not speak.
 */

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { minimumCompressionBytes } from '../api-gateway-answers.ts';
import type { HttpResponse } from './proxy-result.ts';

const zipped = promisify(gzip);

/** @param accepted the header `accept-encoding` of the request */
export async function compressed(
  response: HttpResponse,
  accepted: string | undefined,
): Promise<HttpResponse> {
  const { headers, body } = response;
  if (body.length < minimumCompressionBytes || headers.has('content-encoding')) return response;
  const all = new Map(headers);
  // API Gateway's pages do not say whether it does this. Also on what is sent as it is: a cache on the way must
  // give neither form to those who asked for the other.
  all.set('vary', [[...(headers.get('vary') ?? []), 'accept-encoding'].join(', ')]);
  if (!prefersGzip(accepted)) return { ...response, headers: all };
  return { ...response, headers: all.set('content-encoding', ['gzip']), body: await zipped(body) };
}

/**
 * Whether gzip is named, and nothing is wanted more. Clients that send `br;q=1.0, gzip;q=0.9` get no
 * compression from API Gateway: it takes their first preference, which it does not support. Nor does `*` mean gzip.
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
