/** Headers and parameters of operations whose responses all callers share: a response's age, and how to ask for a fresher one. */

import type { Operation } from '../../lib/catalogue/index.ts';
import type { JsonObject } from '../json.ts';

/** Headers by their names in the document's components. */
export const sharingHeaders = {
  Age: {
    description: 'Seconds since the upstream was asked, rounded up; of the oldest record in the answer.',
    schema: { type: 'integer', minimum: 0 },
  },
  CacheStatus: {
    description:
      'RFC 9211: `hit`, or `fwd=…` when the upstream was asked; `ttl` in seconds is below zero for what is older than it should be.',
    schema: { type: 'string' },
  },
  ETag: {
    description: 'For `If-None-Match`: changes when the answer does.',
    schema: { type: 'string' },
  },
  PollAfter: {
    description: 'Seconds after which asking again is likely to bring something new.',
    schema: { type: 'integer', minimum: 1 },
  },
  UnknownSymbols: {
    description:
      'The symbols asked for that the upstream does not know, with commas between them; absent when it knows all.',
    schema: { type: 'string' },
  },
} as const;

const headerRef = (name: keyof typeof sharingHeaders | 'RequestId' | 'CacheControl') => ({
  $ref: `#/components/headers/${name}`,
});

/** Headers of the responses, in lower case; empty for an operation that shares nothing. */
export function responseHeadersOf({ freshness }: Operation): JsonObject {
  if (!freshness) return {};
  return {
    age: headerRef('Age'),
    'cache-status': headerRef('CacheStatus'),
    etag: headerRef('ETag'),
    'x-poll-after': headerRef('PollAfter'),
    ...(freshness === 'by-symbol' && { 'x-unknown-symbols': headerRef('UnknownSymbols') }),
  };
}

export function sharingParametersOf({ freshness, method }: Operation): readonly JsonObject[] {
  if (!freshness) return [];
  return [
    {
      name: 'cache-control',
      in: 'header',
      description:
        '`max-age` or `no-cache` for something fresher, as far as the deployer and the caller’s share allow; `max-stale`; `only-if-cached`.',
      // A malformed part counts as absent.
      schema: { type: 'string' },
      example: 'max-age=1',
    },
    ...(method === 'GET' ? [ifNoneMatch] : []),
  ];
}

const ifNoneMatch = {
  name: 'if-none-match',
  in: 'header',
  description: 'An `etag`: if the answer is still the same, it is 304 without a body.',
  schema: { type: 'string' },
} as const;

/** Responses of a shared read besides the usual ones. */
export function cacheResponsesOf(operation: Operation): JsonObject {
  if (!operation.freshness || operation.method !== 'GET') return {};
  return {
    304: {
      description: 'The answer is the one that `if-none-match` names.',
      headers: {
        'x-request-id': headerRef('RequestId'),
        'cache-control': headerRef('CacheControl'),
        ...responseHeadersOf(operation),
      },
    },
  };
}
