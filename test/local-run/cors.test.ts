/** CORS of the local run: what a script in a browser is answered, as a deployment with the same origins answers it. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { corsExposedHeaders, corsMaxAgeSeconds } from '../../functions/events/cors.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { gatewayResponses } from '../../infra/stack/gateway-responses.ts';
import { preflight } from '../../infra/stack/mock-responses.ts';
import { exposedOperations, openable, operations, routesOf } from '../../lib/catalogue/index.ts';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { accountsPath, snapshotTarget } from '../support/core.ts';
import { freePorts } from '../support/free-ports.ts';

const app = 'https://app.example';
const web = 'http://localhost:8100';
const key = 'key-of-this-test';

async function runWith(t: TestContext, origins: string) {
  const run = await startLocalRun(
    readSettings({
      API_KEY: key,
      ...freePorts,
      CORS_ORIGINS: origins,
    }),
  );
  t.onTestFinished(() => run.close());
  return (target: string, origin: string, init: RequestInit = {}) =>
    fetch(run.url + target, { ...init, headers: { origin, ...init.headers } });
}

const allowedBy = ({ headers }: Response) => headers.get('access-control-allow-origin');

/** What API Gateway is told to answer with, without the quotation marks of its constants. */
function constantsOf(parameters: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(parameters as Readonly<Record<string, string>>).map(([name, value]) => [
      name.replace(/^.*\./, '').toLowerCase(),
      value.slice(1, -1),
    ]),
  );
}

test('a preflight is 204 without a key, and has what the deployed one has', async (t) => {
  const ask = await runWith(t, `${app},${web}`);
  for (const { path, operation } of routesOf(exposedOperations(operations, openable))) {
    const response = await ask(path, app, { method: 'OPTIONS' });
    assert.equal(response.status, 204, path);
    const { 'x-amazon-apigateway-integration': mock } = preflight([app, web], operation) as unknown as {
      'x-amazon-apigateway-integration': { responses: { default: { responseParameters: unknown } } };
    };
    const expected = constantsOf(mock.responses.default.responseParameters);
    assert.ok(expected['access-control-allow-headers']?.includes('x-api-key'));
    for (const [name, value] of Object.entries(expected))
      assert.equal(response.headers.get(name)?.toLowerCase(), value.toLowerCase(), `${path} ${name}`);
    assert.equal(response.headers.get('access-control-max-age'), String(corsMaxAgeSeconds));
  }
});

test('a preflight names the caller’s origin where it is one of several, and else one that a browser refuses', async (t) => {
  const ask = await runWith(t, `${app},${web}`);
  for (const [origin, allowed] of [
    [web, web],
    [app, app],
    ['https://elsewhere.example', app],
  ] as const)
    assert.equal(allowedBy(await ask(snapshotTarget, origin, { method: 'OPTIONS' })), allowed);
});

describe('what follows the preflight', () => {
  test('is read by the origins that are named, and by no other', async (t) => {
    const ask = await runWith(t, `${app},${web}`);
    const headers = { 'x-api-key': key };
    for (const target of [snapshotTarget, accountsPath]) {
      const response = await ask(target, web, { headers });
      assert.equal(response.status, 200);
      assert.equal(allowedBy(response), web);
      assert.match(response.headers.get('vary') ?? '', /origin/i);
      assert.equal(response.headers.get('access-control-expose-headers'), corsExposedHeaders.join(', '));
      assert.equal(allowedBy(await ask(target, 'https://elsewhere.example', { headers })), null);
    }
  });

  test('so are health, the document, tokens and events', async (t) => {
    const ask = await runWith(t, `${app},${web}`);
    const post = { method: 'POST', headers: { 'x-api-key': key } };
    for (const [target, init] of [
      ['/health', {}],
      ['/openapi.json', {}],
      ['/issuer/.well-known/openid-configuration', {}],
      ['/issuer/token', { ...post, body: new URLSearchParams('grant_type=password&username=ada') }],
      ['/_events', { ...post, body: '{"source":"a","detail-type":"b","detail":{}}' }],
    ] as const) {
      const response = await ask(target, web, init);
      assert.equal(response.status, 200, target);
      assert.equal(allowedBy(response), web, target);
    }
  });

  test('and trade events, whose preflight allows to resume', async (t) => {
    const ask = await runWith(t, `${app},${web}`);
    const { path } = streamOrderEvents;
    const allowed = (await ask(path, web, { method: 'OPTIONS' })).headers.get('access-control-allow-headers');
    assert.ok(allowed?.split(/, */).includes('x-api-key') && allowed.includes('last-event-id'));
    const response = await ask(path, web, { headers: { 'x-api-key': key } });
    assert.deepEqual([response.status, allowedBy(response)], [200, web]);
    await response.body?.cancel();
    const refused = await ask(path, app, { headers: { 'x-api-key': key, authorization: 'Bearer none' } });
    assert.deepEqual([refused.status, allowedBy(refused)], [401, app]);
  });

  test('and refusals, API Gateway’s own and the functions’', async (t) => {
    for (const origins of [[app, web], [app]]) {
      const ask = await runWith(t, origins.join(','));
      const deployed = gatewayResponses({
        modes: [],
        hasSideEffects: true,
        origins,
        throttleRetryAfterSeconds: 1,
      }) as unknown as Record<string, { responseParameters: unknown }>;
      const expected = constantsOf(deployed.MISSING_AUTHENTICATION_TOKEN?.responseParameters);
      for (const [target, status] of [
        ['/nowhere', 404],
        [accountsPath, 403],
      ] as const) {
        const response = await ask(target, app);
        assert.equal(response.status, status);
        assert.equal(allowedBy(response), expected['access-control-allow-origin']);
        assert.equal(response.headers.get('access-control-expose-headers'), corsExposedHeaders.join(', '));
      }
      const invalid = await ask('/openapi/market-data/stock/snapshot', app, {
        headers: { 'x-api-key': key },
      });
      assert.deepEqual([invalid.status, allowedBy(invalid)], [400, app]);
    }
  });
});

test('* lets every origin in', async (t) => {
  const ask = await runWith(t, '*');
  const headers = { 'x-api-key': key };
  for (const response of [
    await ask(snapshotTarget, 'https://any.example', { method: 'OPTIONS' }),
    await ask(snapshotTarget, 'https://any.example', { headers }),
    await ask(snapshotTarget, 'https://any.example'),
    await ask('/health', 'https://any.example'),
  ])
    assert.equal(allowedBy(response), '*');
});

test('without origins OPTIONS is another method, and no answer says more', async (t) => {
  const ask = await runWith(t, '');
  const asked = await ask(snapshotTarget, app, { method: 'OPTIONS' });
  assert.equal(asked.status, 405);
  for (const response of [asked, await ask(snapshotTarget, app, { headers: { 'x-api-key': key } })])
    assert.deepEqual(
      [...response.headers.keys()].filter((name) => name.startsWith('access-control')),
      [],
    );
});
