import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import {
  codeOf,
  credentials,
  type Draft,
  send,
  snapshotPath,
  snapshotTarget,
  testTime,
  withSimulator,
} from './support.ts';

const get = { target: snapshotTarget };
const post = { method: 'POST', target: '/trade/place_order', body: '{"account_id":"x"}' };

const refusals: readonly (readonly [what: string, draft: Draft, status: number, code: string])[] = [
  ['no app key', { ...get, change: { 'x-app-key': undefined } }, 401, 'MISSING_APP_KEY'],
  ['an empty app key', { ...get, change: { 'x-app-key': '' } }, 401, 'MISSING_APP_KEY'],
  ['no timestamp', { ...get, change: { 'x-timestamp': undefined } }, 401, 'MISSING_TIMESTAMP'],
  ['no signature', { ...get, change: { 'x-signature': undefined } }, 401, 'MISSING_SIGNATURE'],
  ['no algorithm', { ...get, change: { 'x-signature-algorithm': undefined } }, 401, 'MISSING_ALGORITHM'],
  ['no nonce', { ...get, change: { 'x-signature-nonce': undefined } }, 401, 'MISSING_NONCE'],
  [
    'no signature version',
    { ...get, change: { 'x-signature-version': undefined } },
    400,
    'ILLEAGAL_PARAMETER',
  ],
  ['no interface version', { ...get, change: { 'x-version': undefined } }, 401, 'MISSING_VERSION'],
  ['an unknown app key', { ...get, appKey: 'stranger' }, 401, 'UNAUTHORIZED'],
  [
    'another algorithm',
    { ...get, sign: { 'x-signature-algorithm': 'HMAC-SHA1' } },
    401,
    'SIGNATURE_ALGORITHM_NOT_SUPPORTED',
  ],
  [
    'another signature version',
    { ...get, sign: { 'x-signature-version': '2.0' } },
    401,
    'VERSION_NOT_SUPPORTED',
  ],
  ['the interface version before', { ...get, change: { 'x-version': 'v2' } }, 401, 'UNSUPPORTED_API_VERSION'],
  [
    'a timestamp in another form',
    { ...get, sign: { 'x-timestamp': '1794907800000' } },
    401,
    'ILLEAGAL_TIMESTAMP',
  ],
  ['an old timestamp', { ...get, now: testTime - 301_000 }, 401, 'CLOCK_SKEW_EXCEEDED'],
  ['a timestamp to come', { ...get, now: testTime + 301_000 }, 401, 'CLOCK_SKEW_EXCEEDED'],
  ['another secret', { ...get, appSecret: 'wrong' }, 401, 'INCORRECT_SIGN'],
  ['a signature that is no base64', { ...get, change: { 'x-signature': 'é' } }, 401, 'INCORRECT_SIGN'],
  [
    'a POST without content type',
    { ...post, change: { 'content-type': undefined } },
    400,
    'ILLEAGAL_PARAMETER',
  ],
  [
    'a POST of a form',
    { ...post, change: { 'content-type': 'application/x-www-form-urlencoded' } },
    400,
    'ILLEAGAL_PARAMETER',
  ],
  ['a body that is not compact', { ...post, body: '{"account_id": "x"}' }, 417, 'OPENAPI_PARAM_ERR'],
  ['a body with escapes left', { ...post, body: '{"account_id":"\\u003c"}' }, 417, 'OPENAPI_PARAM_ERR'],
];

describe('refusals over HTTP', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ ...credentials, clock: () => testTime });
  });
  afterAll(() => simulator.close());

  for (const [what, draft, status, code] of refusals) {
    test(`${what}: ${code}`, async () => {
      const reply = await send(simulator, draft);
      assert.equal(codeOf(reply), code);
      assert.equal(reply.status, status);
      assert.equal(reply.headers['content-type'], 'application/json');
      assert.ok(reply.headers['x-request-id']);
      assert.equal(simulator.received.at(-1)?.outcome, code);
    });
  }

  const wrongQueries: readonly (readonly [query: string, message: string])[] = [
    ['category=US_STOCK', 'Parameter error, symbols'],
    ['symbols=AAPL', 'Parameter error, category'],
    ['symbols=&category=US_STOCK', 'Parameter error, symbols'],
    ['symbols=AAPL,,MSFT&category=US_STOCK', 'Parameter error, symbols'],
    [`symbols=${Array(101).fill('AAPL').join(',')}&category=US_STOCK`, 'Parameter error, symbols'],
    ['symbols=AAPL&category=CRYPTO', 'Parameter error, category'],
    ['symbols=AAPL&category=US_STOCK&category=US_STOCK', 'Parameter error, category'],
    ['symbols=AAPL&category=US_STOCK&overnight_required=1', 'Parameter error, overnight_required'],
    ['symbols=AAPL&category=US_STOCK&depth=2', 'Parameter error, depth'],
    ['symbols=AAPL&category=US_STOCK&toString=2', 'Parameter error, toString'],
    ['symbols=AAPL&category=US_STOCK&host=zzz', 'Parameter error, host'],
  ];
  for (const [query, message] of wrongQueries) {
    test(`parameters: ${message} for ${query.slice(0, 60)}`, async () => {
      const reply = await send(simulator, { target: `${snapshotPath}?${query}` });
      const error_code = query.endsWith('CRYPTO') ? 'UNSUPPORTED_CATEGORY' : 'ILLEGAL_PARAMETER';
      assert.deepEqual([reply.status, reply.json], [417, { error_code, message, status: 417 }]);
    });
  }

  test('a body on an operation that takes none is refused, except {}', async () => {
    const target = '/trading/accounts/list';
    const refused = await send(simulator, { target, body: '{"a":1}' });
    assert.deepEqual(refused.json, { error_code: 'OPENAPI_PARAM_ERR', message: 'Parameter error, body' });
    assert.equal((await send(simulator, { target, body: '{}' })).status, 200);
  });

  test('an unknown path has the front server’s own body and no error code', async () => {
    const reply = await send(simulator, { target: '/no/such/path' });
    assert.equal(reply.status, 404);
    assert.equal(reply.headers['content-type'], 'application/json');
    assert.deepEqual(Object.keys(reply.json as object), ['error_msg']);
  });

  test('a known path with another method is refused with what is allowed', async () => {
    const reply = await send(simulator, { ...post, target: snapshotPath });
    assert.deepEqual([reply.status, reply.headers.allow], [405, 'GET']);
  });
});

test('a nonce is used up by a correctly signed request only, and per app key', async () => {
  await withSimulator({}, async (simulator) => {
    const other = { appKey: 'other-key', appSecret: 'other-secret' };
    simulator.setCredentials([credentials, other]);
    const draft = { ...get, nonce: 'once' };
    const codes = [];
    for (const one of [{ ...draft, appSecret: 'wrong' }, draft, draft, { ...draft, ...other }]) {
      const reply = await send(simulator, one);
      codes.push(codeOf(reply) ?? reply.status);
    }
    assert.deepEqual(codes, ['INCORRECT_SIGN', 200, 'DUPPLICATED_REQUEST', 200]);
  });
});

test('rotation: the old secret and the old key stop at once', async () => {
  await withSimulator({}, async (simulator) => {
    simulator.setCredentials([{ appKey: credentials.appKey, appSecret: 'new' }]);
    assert.equal(codeOf(await send(simulator, get)), 'INCORRECT_SIGN');
    assert.equal((await send(simulator, { ...get, appSecret: 'new' })).status, 200);
    simulator.setCredentials([{ appKey: 'new-key', appSecret: 'new' }]);
    assert.equal(codeOf(await send(simulator, { ...get, appSecret: 'new' })), 'UNAUTHORIZED');
  });
});

test('an access token is asked for when there is one', async () => {
  await withSimulator({ accessToken: 'token' }, async (simulator) => {
    assert.equal(codeOf(await send(simulator, get)), 'INVALID_TOKEN');
    const wrong = { ...get, change: { 'x-access-token': 'other' } };
    assert.equal(codeOf(await send(simulator, wrong)), 'INVALID_TOKEN');
    const right = { ...get, change: { 'X-Access-Token': 'token' } };
    assert.equal((await send(simulator, right)).status, 200);
  });
});
