/** `countersign smoke` against servers that answer what a stage, or something else, may answer. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'vitest';
import { type SmokeResult, smoke } from '../../../infra/commands/smoke.ts';
import { urlFor } from '../../support/listening.ts';

type Respond = (response: ServerResponse) => unknown;

const says =
  (body: string, status = 200, type = 'application/json'): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': type }).end(body);
const ok = says('{"status":"ok"}');
const never: Respond = () => {};
const closes: Respond = (response) => response.destroy();
const stopsMidway: Respond = (response) => response.writeHead(200).write('[');

async function diagnose(
  t: TestContext,
  health: Respond,
  snapshot: Respond = says('[]'),
  timeoutMs = 5000,
  config: Respond = says('{"token_check_enabled":false}'),
): Promise<SmokeResult> {
  const listener: RequestListener = ({ url }, response) =>
    void (url?.endsWith('/health') ? health : url?.endsWith('/openapi/config') ? config : snapshot)(response);
  return smoke(`${await urlFor(t, createServer(listener))}/v1/`, 'key', timeoutMs);
}

const notAStage = /the URL is not that of a Countersign stage\.$/;

test('a stage that answers is healthy', async (t) => {
  assert.equal((await diagnose(t, ok)).healthy, true);
});

test('a stage whose market data asks for a token is healthy, and says that no more was tried', async (t) => {
  const { healthy, words } = await diagnose(t, ok, says('{"code":"missing_token"}', 401));
  assert.equal(healthy, true);
  assert.match(words, /asks for an access token/);
  assert.equal((await diagnose(t, ok, says('{"code":"invalid_token"}', 401))).healthy, false);
});

test('a stage that only repeats what it knew is not healthy', async (t) => {
  const old: Respond = (response) =>
    response.writeHead(200, { 'content-type': 'application/json', age: '42' }).end('[]');
  const { healthy, words } = await diagnose(t, ok, old);
  assert.equal(healthy, false);
  assert.match(words, /known 42 s ago/);
});

for (const [what, health] of [
  ['a web page', says('<p>Hello</p>', 200, 'text/html')],
  ['another status', says('{"status":"up"}')],
  ['null', says('null')],
  ['text called JSON', says('ok')],
  ['an error', says('{"message":"Missing Authentication Token"}', 403)],
] as const)
  test(`no stage: /health answers ${what}`, async (t) => {
    const { healthy, words } = await diagnose(t, health);
    assert.equal(healthy, false);
    assert.match(words, notAStage);
  });

for (const [what, config] of [
  ['an empty object', says('{}')],
  ['that a token is needed', says('{"token_check_enabled":true}')],
  ['an error', says('{"message":"Missing Authentication Token"}', 403)],
] as const)
  test(`existing clients cannot begin: the configuration is ${what}`, async (t) => {
    const { healthy, words } = await diagnose(t, ok, says('[]'), 5000, config);
    assert.equal(healthy, false);
    assert.match(words, /\/openapi\/config answers (200, but not \{.*\}|403): existing clients/);
  });

for (const [what, body] of [
  ['an object', '{}'],
  ['null', 'null'],
  ['no JSON', '<p>'],
] as const)
  test(`no stage: the snapshot is ${what}`, async (t) => {
    const { healthy, words } = await diagnose(t, ok, says(body));
    assert.equal(healthy, false);
    assert.match(words, notAStage);
  });

for (const body of ['null', '[]', '"no"', '{"code":7,"detail":{}}', '{"code":', ''])
  test(`an error whose body is ${body || 'empty'} is named by its status`, async (t) => {
    const { healthy, words } = await diagnose(t, ok, says(body, 502));
    assert.equal(healthy, false);
    assert.match(words, /^The gateway failed.*\(502 without code, request unknown\)$/);
  });

test('an error with a code has its remedy', async (t) => {
  const body = '{"code":"secret_not_set","request_id":"r-1"}';
  const { words } = await diagnose(t, ok, says(body, 503, 'application/problem+json'));
  assert.match(words, /^The secret is empty.*\(503 secret_not_set, request r-1\)$/);
});

test('a 401 is not blamed on another environment, whose key gets 404, but on key, secret or token', async (t) => {
  const { words } = await diagnose(t, ok, says('{"code":"upstream_auth_failed"}', 502));
  assert.match(words, /^The upstream refuses the credentials, .* wrong key or secret, .* access_token /);
  assert.doesNotMatch(words, /environment/);
});

test('a key of another environment, which the upstream answers 404 everywhere, is told apart from one unknown path', async (t) => {
  const unknown = says('{"code":"upstream_path_unknown","request_id":"r-1"}', 404);
  const everywhere = await diagnose(t, ok, unknown);
  assert.equal(everywhere.healthy, false);
  assert.match(
    everywhere.words,
    /^The upstream knows no path.*key of another environment.*\(404 upstream_path_unknown/,
  );
  let asked = 0;
  const once: Respond = (response) => (asked++ === 0 ? unknown : says('{}'))(response);
  const { healthy, words } = await diagnose(t, ok, once);
  assert.equal(healthy, false);
  assert.match(words, /^The upstream serves other paths, but not this one.*Set upstream\.paths/);
});

test('what snapshots leave open, another operation names', async (t) => {
  const unreachable = says('{"code":"upstream_unreachable","cause":"host_closed"}', 502);
  const late = says('{"code":"no_fresh_answer","detail":"None came in time.","request_id":"r-1"}', 503);
  const old: Respond = (response) =>
    response.writeHead(200, { 'content-type': 'application/json', age: '42' }).end('[]');
  for (const [first, times, words] of [
    [late, 1, /^None came in time\. Nothing listens at the upstream.*\(503 no_fresh_answer, request r-1\)$/],
    [old, 4, /known 42 s ago: the upstream gives nothing newer now\. Nothing listens at the upstream/],
  ] as const) {
    let asked = 0;
    const result = await diagnose(t, ok, (response) => (asked++ < times ? first : unreachable)(response));
    assert.equal(result.healthy, false);
    assert.match(result.words, words);
  }
});

test('no answer in time is told apart from a closed connection', async (t) => {
  const late = /gives no answer within 0\.2 s/;
  assert.match((await diagnose(t, never, never, 200)).words, late);
  assert.match((await diagnose(t, ok, never, 200)).words, late);
  assert.match((await diagnose(t, ok, stopsMidway, 200)).words, late);
  assert.match((await diagnose(t, closes)).words, /^Nothing answers at/);
  assert.match((await diagnose(t, ok, closes)).words, /closed the connection/);
});
