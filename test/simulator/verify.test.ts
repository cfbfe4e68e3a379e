import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { parseTarget } from '../../infra/simulator/canonical.ts';
import { verifyRequest, type WireRequest } from '../../infra/simulator/verify.ts';
import { credentials, type Draft, headersFor, testTime } from './support.ts';

const options = {
  secretOf: (appKey: string) => (appKey === credentials.appKey ? credentials.appSecret : undefined),
  toleranceSeconds: 300,
};

function wireOf(draft: Draft): WireRequest {
  return {
    method: draft.method ?? 'GET',
    rawTarget: draft.target,
    rawHeaders: Object.entries(headersFor(draft)).flat(),
    body: Buffer.from(draft.body ?? '', 'utf8'),
    now: testTime,
  };
}

const names = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('a', 'a', 'host', 'x-app-key', 'x-timestamp', 'symbols'),
);
const pairs = fc.array(fc.tuple(names, fc.string({ unit: 'binary', maxLength: 12 })), { maxLength: 6 });
const bodies = fc.option(fc.json({ maxDepth: 2 }), { nil: undefined });

function targetOf(path: string, query: readonly (readonly [string, string])[]): string {
  return `${path}?${query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`;
}

test('any query and body, signed by the rules, is accepted as it was meant', () => {
  fc.assert(
    fc.property(pairs, bodies, (query, body) => {
      const draft = { method: 'POST', target: targetOf('/a', query), pairs: query, ...(body && { body }) };
      const verified = verifyRequest(wireOf(draft), options);
      assert.ok(verified.ok, JSON.stringify(verified));
      assert.deepEqual(verified.query, query);
    }),
    { numRuns: 2000 },
  );
});

test('a change to any signed part is refused', () => {
  fc.assert(
    fc.property(pairs, bodies, fc.nat(5), (query, body, which) => {
      const draft = { method: 'POST', target: targetOf('/a', query), pairs: query, ...(body && { body }) };
      const wire = wireOf(draft);
      const header = (name: string, value: string) => {
        const rawHeaders = [...wire.rawHeaders];
        rawHeaders[rawHeaders.indexOf(name) + 1] = value;
        return { ...wire, rawHeaders };
      };
      const changed = [
        { ...wire, rawTarget: wire.rawTarget.replace('/a', '/b') },
        { ...wire, rawTarget: `${wire.rawTarget}&zzz=1` },
        { ...wire, body: Buffer.concat([wire.body, Buffer.from(' ')]) },
        header('host', 'other.test'),
        header('x-signature-nonce', 'other'),
        header('x-timestamp', '2026-11-17T09:30:01Z'),
      ][which]!;
      const verified = verifyRequest(changed, options);
      assert.equal(verified.ok ? 'ok' : verified.error_code, 'INCORRECT_SIGN');
    }),
    { numRuns: 1000 },
  );
});

test('timestamps in other forms and days that never were are refused', () => {
  const texts = [
    '2026-11-17T09:30:00.000Z',
    '2026-11-17T09:30:00+00:00',
    '2026-11-17 09:30:00Z',
    '2026-11-17T09:30Z',
    '2026-11-17T9:30:00Z',
    '2026-02-30T09:30:00Z',
    '2026-11-17T24:00:00Z',
    '2026-11-17T09:60:00Z',
    '2026-13-01T09:30:00Z',
    '1794907800',
    '1794907800000',
  ];
  for (const text of texts) {
    const verified = verifyRequest(wireOf({ target: '/a', sign: { 'x-timestamp': text } }), options);
    assert.equal(verified.ok ? 'ok' : verified.error_code, 'ILLEAGAL_TIMESTAMP', text);
  }
});

test('the clock tolerance is inclusive, both ways', () => {
  const at = (seconds: number) => {
    const verified = verifyRequest(wireOf({ target: '/a', now: testTime + seconds * 1000 }), options);
    return verified.ok ? 'ok' : verified.error_code;
  };
  assert.deepEqual([-301, -300, 0, 300, 301].map(at), [
    'CLOCK_SKEW_EXCEEDED',
    'ok',
    'ok',
    'ok',
    'CLOCK_SKEW_EXCEEDED',
  ]);
});

test('targets are taken apart as sent', () => {
  assert.deepEqual(parseTarget('/a%20b'), { path: '/a%20b', query: [] });
  assert.deepEqual(parseTarget('/a?'), { path: '/a', query: [] });
  assert.deepEqual(parseTarget('/a?x=1+2%2B&&y&=z&q=a=b?'), {
    path: '/a',
    query: [
      ['x', '1 2+'],
      ['y', ''],
      ['', 'z'],
      ['q', 'a=b?'],
    ],
  });
  for (const malformed of ['/a?x=%', '/a?x=%2', '/a?%zz=1', '/a?x=%FF', '/a#b', 'http://h/a', '*', '']) {
    assert.equal(parseTarget(malformed), undefined, malformed);
  }
});
