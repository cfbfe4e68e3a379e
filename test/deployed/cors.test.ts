import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  corsExposedHeaders,
  corsHeaders,
  corsRequestHeaders,
  originFault,
  withCors,
} from '../../functions/events/cors.ts';
import { operations } from '../../lib/catalogue/index.ts';

const configured = [
  'https://app.example',
  'capacitor://localhost',
  'ionic://localhost',
  'http://localhost:8100',
];
const exposed = corsExposedHeaders.join(', ');

test('a configured origin may read the answer, to the letter', () => {
  for (const origin of configured)
    assert.deepEqual(corsHeaders(configured, origin), {
      vary: 'origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposed,
    });
});

test('any other origin may not, and caches learn that the origin matters', () => {
  for (const origin of [
    undefined,
    'null',
    'https://app.example.evil',
    'https://app.example:444',
    'http://app.example',
    'HTTPS://app.example',
    'https://app.example/',
    '*',
  ])
    assert.deepEqual(corsHeaders(configured, origin), { vary: 'origin' }, origin);
});

test('all origins, and none', () => {
  for (const origin of [undefined, 'null', 'https://any.example'])
    assert.deepEqual(corsHeaders('*', origin), {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': exposed,
    });
  assert.deepEqual(corsHeaders([], 'https://app.example'), {});
});

test('what a response varies by is the sum of its own and of the origins', () => {
  const allowed = 'https://app.example';
  for (const [own, origins, vary] of [
    [{ vary: 'accept' }, [allowed], 'accept, origin'],
    [{ vary: 'accept' }, '*', 'accept'],
    [{}, [allowed], 'origin'],
    [{}, [], undefined],
  ] as const) {
    const headers = withCors({ 'content-type': 'application/json', ...own }, origins, allowed);
    assert.deepEqual([headers.vary, headers['content-type']], [vary, 'application/json']);
    assert.equal('vary' in headers, vary !== undefined);
  }
});

test('a script may read how fresh an answer is, and when to come again', () => {
  for (const name of [
    'age',
    'cache-status',
    'etag',
    'x-poll-after',
    'x-unknown-symbols',
    'retry-after',
    'idempotent-replayed',
  ])
    assert(corsExposedHeaders.includes(name), name);
});

test('the form of an origin', () => {
  for (const origin of [...configured, 'https://[::1]:8443', 'http://127.0.0.1'])
    assert.equal(originFault(origin), undefined, origin);
  assert.equal(originFault('http://localhost:65535'), undefined);
  assert.equal(originFault('http://localhost:65536'), 'a port is at most 65535');
  for (const origin of [
    '',
    '*',
    'null',
    'app.example',
    'https://app.example/',
    'https://a b',
    'https://App.example',
  ])
    assert.notEqual(originFault(origin), undefined, origin);
});

test('a preflight allows the key, the content type and what operations forward', () => {
  const allowed = corsRequestHeaders(operations);
  for (const name of ['x-api-key', 'content-type', 'authorization', 'x-signature', 'category'])
    assert(allowed.includes(name), name);
  for (const name of ['cache-control', 'if-none-match', 'idempotency-key'])
    assert(allowed.includes(name), name);
  assert.equal(new Set(allowed).size, allowed.length);
  for (const name of [...allowed, ...corsExposedHeaders]) assert.equal(name, name.toLowerCase());
});
