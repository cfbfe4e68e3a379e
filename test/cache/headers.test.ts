/** What the cache's headers mean, coming and going. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { ageHeader, cacheStatus, matchesTag, readCacheDirectives, weakTag } from '../../lib/cache/headers.ts';

test('directives of a request', () => {
  const table: [string | undefined, object][] = [
    [undefined, {}],
    ['', {}],
    ['no-cache', { maxAgeMs: 0 }],
    ['max-age=5', { maxAgeMs: 5000 }],
    ['Max-Age="7", foo=bar', { maxAgeMs: 7000 }],
    ['max-age=5, no-cache', { maxAgeMs: 0 }],
    ['max-age=-1', {}],
    ['max-age=soon', {}],
    ['max-age', {}],
    ['max-stale=9', { maxStaleMs: 9000 }],
    ['max-stale', { maxStaleMs: 999_999_999_000 }],
    ['max-stale=soon', {}],
    ['max-stale=-1', {}],
    ['ext="a, no-cache, b", max-age=4', { maxAgeMs: 4000 }],
    ['only-if-cached, max-age=3', { maxAgeMs: 3000, onlyIfCached: true }],
    ['no-store, no-transform', {}],
  ];
  for (const [header, directives] of table) assert.deepEqual(readCacheDirectives(header), directives, header);
});

test('an age is never rounded down', () => {
  assert.deepEqual([0, 1, 999, 1000, 1001, -5].map(ageHeader), ['0', '1', '1', '1', '2', '0']);
});

test('tags are compared weakly', () => {
  const tag = weakTag(12345);
  for (const header of [tag, '*', `"a", ${tag}`, tag.slice(2)]) assert.ok(matchesTag(header, tag), header);
  for (const header of [undefined, '', '"a"', 'W/""']) assert.ok(!matchesTag(header, tag), header);
});

test('the status of the cache, as RFC 9211 writes it', () => {
  assert.equal(cacheStatus({ ttlMs: 4900 }), 'countersign; hit; ttl=4');
  assert.equal(cacheStatus({ ttlMs: -100, detail: 'x' }), 'countersign; hit; ttl=-1; detail=x');
  assert.equal(
    cacheStatus({ fwd: 'miss', collapsed: true, ttlMs: 0 }),
    'countersign; fwd=miss; collapsed; ttl=0',
  );
  assert.equal(cacheStatus({ collapsed: true, ttlMs: 0 }), 'countersign; hit; ttl=0');
});
