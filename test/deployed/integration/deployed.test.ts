/** A group's handler as it is deployed, against stubs of what it is deployed between. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'vitest';
import type { ProxyEvent } from '../../../functions/events/rest-proxy.ts';
import { describe, type LogEntry, requestEntry } from '../../../functions/log/log.ts';
import { writePart } from '../../../functions/settings/parts.ts';
import { startSimulator } from '../../../infra/simulator/index.ts';
import { operations } from '../../../lib/catalogue/index.ts';
import { startDeployed } from '../../support/deployed.ts';
import { part } from '../../support/parts.ts';
import { useCalmTime } from '../../world/test-time.ts';
import {
  awsEnvironment,
  identityKeyId,
  operatorArn,
  startSecretsManagerStub,
  usersTable,
} from '../secrets-manager-stub.ts';
import { orderRequest } from '../send.contract.ts';

useCalmTime();

Object.assign(process.env, awsEnvironment);

const credentials = { appKey: 'canary-app-key', appSecret: 'canary-app-secret' };
const secret = '{"app_key":"canary-app-key","app_secret":"canary-app-secret"}';
const context = { getRemainingTimeInMillis: () => 20_000 };

const event = (resource: string, change: Partial<ProxyEvent> = {}): ProxyEvent => ({
  resource,
  httpMethod: 'GET',
  headers: {},
  multiValueHeaders: {},
  queryStringParameters: null,
  multiValueQueryStringParameters: null,
  body: null,
  isBase64Encoded: false,
  requestContext: { requestId: 'request-1', identity: { userArn: operatorArn } },
  ...change,
});

const accounts = event('/trading/accounts/list');

async function deployed(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  text?: string,
  upstream: { readonly accessToken?: string } = {},
) {
  const simulator = await startSimulator({ ...credentials, ...upstream });
  const stub = await startSecretsManagerStub();
  t.onTestFinished(async () => void (await Promise.all([simulator.close(), stub.close()])));
  if (text !== undefined) stub.set(text);
  process.env.AWS_ENDPOINT_URL = stub.url;
  t.onTestFinished(() => void delete process.env.AWS_ENDPOINT_URL);
  const logged: LogEntry[] = [];
  const variables = {
    ...part('UPSTREAM', { baseUrl: simulator.url, secretId: stub.secretId }),
    ...part('LIMITER'),
    ...part('ACCESS', { tableName: usersTable, identityKeySecretId: identityKeyId }),
    ...env,
  };
  const handler = startDeployed(operations, variables, (entry) => logged.push(entry));
  return { handler, simulator, stub, logged };
}

test('a call goes through, and is one line in the log', async (t) => {
  const { handler, logged } = await deployed(t, writePart('CORS', ['capacitor://localhost']), secret);
  const result = await handler({ ...accounts, headers: { Origin: 'capacitor://localhost' } }, context);
  assert.equal(result.statusCode, 200);
  assert.equal(result.isBase64Encoded, false);
  assert.match(result.body, /account_id/);
  assert.equal(result.headers?.['access-control-allow-origin'], 'capacitor://localhost');
  assert.equal(result.headers?.vary, 'origin');
  assert.equal(logged.length, 1);
  const { milliseconds, user, ...entry } = logged[0] as LogEntry & { milliseconds: number; user: string };
  assert.match(user, /^[\w-]{22}$/, 'a keyed hash, and not the ARN');
  assert.equal(typeof milliseconds, 'number');
  assert.deepEqual(entry, {
    level: 'info',
    event: 'request',
    requestId: 'request-1',
    operation: 'listAccounts',
    attempts: 1,
    status: 200,
  });
});

test('account data is for callers who are known: without a table of users nothing of it is served', async (t) => {
  const { handler, logged, simulator } = await deployed(t, { ACCESS: '' }, secret);
  assert.match(JSON.stringify(logged), /ACCESS: not set/);
  assert.equal((await handler(accounts, context)).statusCode, 500);
  assert.equal(simulator.received.length, 0);
  const known = await deployed(t, {}, secret);
  const stranger = event('/trading/accounts/list', { requestContext: { requestId: 'r' } });
  assert.equal((await known.handler(stranger, context)).statusCode, 403);
  assert.equal(known.simulator.received.length, 0);
});

test('a refused call has its cause in the log, and nothing of the secret', async (t) => {
  const { handler, logged } = await deployed(t, {}, secret.replace('-secret"}', '-secret-of-another-key"}'));
  const result = await handler(accounts, context);
  assert.equal(result.statusCode, 502);
  const entry = logged.find(({ event }) => event === 'request');
  assert.deepEqual([entry?.code, entry?.cause], ['upstream_auth_failed', 'wrong_secret']);
  assert.doesNotMatch(JSON.stringify(logged), /canary|another-key/);
});

test('a refused access token is counted in the line of its request, which holds nothing of it', async (t) => {
  const token = '"access_token":"canary-token"';
  const text = secret.replace('}', `,${token}}`);
  const { handler, logged, stub } = await deployed(t, {}, text, { accessToken: 'another-token' });
  assert.equal((await handler(accounts, context)).statusCode, 503);
  const entry = logged.find(({ event }) => event === 'request');
  assert.deepEqual(
    [entry?.code, entry?.AccessTokenRefused, entry?.Secret],
    ['upstream_token_expired', 1, stub.secretId],
  );
  assert.doesNotMatch(JSON.stringify(logged), /canary|another-token/);
  const served = await deployed(t, {}, text, { accessToken: 'canary-token' });
  assert.equal((await served.handler(accounts, context)).statusCode, 200);
  assert.doesNotMatch(JSON.stringify(served.logged), /AccessTokenRefused/);
});

test('refusals carry CORS headers too', async (t) => {
  const { handler } = await deployed(t, writePart('CORS', '*'), secret);
  const result = await handler(event('/nowhere'), context);
  assert.equal(result.statusCode, 404);
  assert.equal(result.headers?.['access-control-allow-origin'], '*');
  assert.equal(result.headers?.vary, 'accept');
});

test('the secret is fetched before the first request, and once', async (t) => {
  const { handler, stub } = await deployed(t, {}, secret);
  while (stub.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([handler(accounts, context), handler(accounts, context)]);
  assert.deepEqual(stub.requests, ['AWSCURRENT']);
});

test('a fetch that fails while the function starts is made again with a request', async (t) => {
  const { handler, stub, logged } = await deployed(t);
  stub.setFault('denied');
  while (logged.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(logged[0]?.event, 'secret_not_read');
  assert.equal(logged[0]?.name, 'AccessDeniedException');
  stub.setFault(undefined);
  stub.set(secret);
  assert.equal((await handler(accounts, context)).statusCode, 200);
});

test('an empty secret, a missing one, and one of the wrong form', async (t) => {
  for (const [text, code] of [
    [undefined, 'secret_not_set'],
    ['{"app_key":"","app_secret":""}', 'secret_not_set'],
    ['{"app_key":"k"}', 'secret_invalid'],
  ] as const) {
    const { handler } = await deployed(t, {}, text);
    assert.equal(JSON.parse((await handler(accounts, context)).body).code, code);
  }
});

test('the function’s own time limit bounds an attempt', async (t) => {
  const { handler, simulator } = await deployed(t, {}, secret);
  const result = await handler(accounts, { getRemainingTimeInMillis: () => 1200 });
  assert.equal(JSON.parse(result.body).code, 'gateway_timeout');
  assert.equal(simulator.received.length, 0);
});

test('a wrong environment: one clear line, and an answer instead of a crash', async () => {
  const logged: LogEntry[] = [];
  const env = { CORS: 'https://app.example' };
  const handler = startDeployed(operations, env, (entry) => logged.push(entry));
  assert.deepEqual(logged, [
    {
      level: 'error',
      event: 'wrong_configuration',
      faults: ['ACCESS: not set', 'UPSTREAM: not set', 'CORS: not JSON', 'LIMITER: not set'],
    },
  ]);
  for (let round = 0; round < 2; round++) {
    const { statusCode, body } = await handler(accounts, context);
    assert.equal(statusCode, 500);
    assert.equal(JSON.parse(body).code, 'gateway_error');
    assert.equal(JSON.parse(body).request_id, 'request-1');
  }
  assert.equal(logged.length, 3);
});

test('the log holds nothing of the secret, of queries or of bodies', async (t) => {
  const { handler, simulator, stub, logged } = await deployed(t, {}, secret);
  const { body } = orderRequest('canary-account');
  const query = { symbols: ['canary-symbol'], category: ['canary-category'] };
  const snapshots = '/openapi/market-data/stock/snapshot';
  const order = {
    httpMethod: 'POST',
    body: body.toString(),
    headers: { category: 'canary-header', 'content-type': 'application/json' },
  };
  await handler(event(snapshots, { multiValueQueryStringParameters: query }), context);
  await handler(event('/trade/place_order', order), context);
  await handler(event('/trade/place_order', { ...order, body: 'canary-no-json' }), context);
  simulator.setCredentials([]);
  await handler(accounts, context);
  stub.set('canary-malformed');
  await handler(event('/canary-path'), context);
  assert.equal(logged.filter((entry) => entry.event === 'request').length, 5);
  assert.doesNotMatch(JSON.stringify(logged), /canary/);
});

test('levels follow the status; a defect is named by its place, not by its words', () => {
  const report = { requestId: 'r', attempts: 0, milliseconds: 1 };
  assert.equal(requestEntry({ ...report, status: 200 }).level, 'info');
  assert.equal(requestEntry({ ...report, status: 404 }).level, 'warn');
  const defect = Object.assign(new TypeError('canary\n    canary'), { code: 'ERR_X' });
  const entry = requestEntry({ ...report, status: 500, defect });
  assert.equal(entry.level, 'error');
  assert.doesNotMatch(JSON.stringify(entry), /canary/);
  const { name, code, at } = describe(defect) as { name: string; code: string; at: string[] };
  assert.deepEqual([name, code], ['TypeError', 'ERR_X']);
  assert.match(at[0] ?? '', /deployed\.test/);
  assert.deepEqual(describe('canary'), { name: 'string' });
});

test('a line of the log is one line of JSON on stdout', async () => {
  const { spawn } = await import('node:child_process');
  const url = new URL('../../../functions/log/log.ts', import.meta.url);
  const script = `import { writeLog } from ${JSON.stringify(url.href)}; writeLog({ level: 'info', event: 'a\\nb' });`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  assert.equal(text, '{"level":"info","event":"a\\nb"}\n');
});
