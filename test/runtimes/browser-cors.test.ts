/** A web app in Chromium in front of the local run: what its scripts read with `CORS_ORIGINS`, and without. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'vitest';
import { createNodeListener } from '../../functions/node/index.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { noChromium, openBrowser } from '../support/chromium.ts';
import { accountsPath, orderBody, orderPath, snapshotTarget, startCore } from '../support/core.ts';
import { freePorts } from '../support/free-ports.ts';
import { urlFor } from '../support/listening.ts';
import { orSkip } from '../support/missing.ts';

const key = 'key-of-this-test';

/** @returns the origin of a web app, whose page is empty */
async function appOf(t: TestContext): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>app</title>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openApp(t: TestContext, app: string) {
  const page = await openBrowser();
  t.onTestFinished(() => page.close());
  await page.open(app);
  /** @returns status and a header, or what the browser says when it lets nothing through */
  return (
    url: string,
    init: RequestInit & { readonly body?: string } = {},
    body: 'text' | 'untyped' = 'text',
  ) =>
    page.evaluate<string>(
      `fetch(${JSON.stringify(url)}, {
        ...${JSON.stringify(init)},
        ${body === 'untyped' ? `body: new Blob([${JSON.stringify(init.body)}])` : ''}
      }).then(
        async (response) => [response.status, response.headers.get('x-request-id') !== null, (await response.text()).length > 0].join(' '),
        (error) => error.name,
      )`,
    );
}

describe('a web app in Chromium', orSkip(noChromium), () => {
  test('reads answers and refusals of a run that names its origin, and no other app does', async (t) => {
    const [app, other] = [await appOf(t), await appOf(t)];
    const run = await startLocalRun(
      readSettings({
        ...freePorts,
        API_KEY: key,
        CORS_ORIGINS: `https://a.example,${app}`,
      }),
    );
    t.onTestFinished(() => run.close());
    const ask = await openApp(t, app);
    const headers = { 'x-api-key': key };
    const events = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"source":"a","detail-type":"b","detail":{}}',
    };
    for (const [target, init, expected] of [
      [snapshotTarget, { headers }, '200 true true'],
      [accountsPath, { headers: { ...headers, authorization: 'Bearer no-token' } }, '401 true true'],
      [accountsPath, {}, '403 true true'],
      ['/nowhere', {}, '404 true true'],
      ['/health', {}, '200 false true'],
      ['/_events', events, '200 false true'],
    ] as const)
      assert.equal(await ask(run.url + target, init), expected, target);
    const askFromOther = await openApp(t, other);
    assert.equal(await askFromOther(run.url + snapshotTarget, { headers }), 'TypeError');
    assert.equal(await askFromOther(`${run.url}/_events`, events), 'TypeError');
  });

  test('places no order at a gateway of one user, neither from another site nor under a name that was rebound', async (t) => {
    const { gateway, simulator } = await startCore();
    t.onTestFinished(() => simulator.close());
    const url = await urlFor(t, createServer(createNodeListener(gateway)));
    const { port } = new URL(url);
    // A browser resolves every name below localhost to this machine: to the gateway, it is a name like any other.
    const rebound = `http://evil.localhost:${port}`;
    for (const [site, target] of [
      [`http://evil.localhost:${new URL(await appOf(t)).port}`, url],
      [await appOf(t), url],
      [rebound, rebound],
    ] as const) {
      const ask = await openApp(t, site);
      for (const headers of [{}, { 'content-type': 'application/json' }])
        for (const mode of ['no-cors', 'cors'] as const)
          await ask(target + orderPath, { method: 'POST', mode, headers, body: orderBody() }, 'untyped');
    }
    assert.equal(simulator.received.length, 0);
    const ask = await openApp(t, url);
    const typed = { method: 'POST', headers: { 'content-type': 'application/json' }, body: orderBody() };
    assert.match(await ask(url + orderPath, typed), /^200 /);
  });

  test('reads nothing of a run that names none', async (t) => {
    const app = await appOf(t);
    const run = await startLocalRun(
      readSettings({
        ...freePorts,
        API_KEY: key,
        TRADE_EVENTS: 'off',
      }),
    );
    t.onTestFinished(() => run.close());
    const ask = await openApp(t, app);
    assert.equal(await ask(run.url + snapshotTarget, { headers: { 'x-api-key': key } }), 'TypeError');
    assert.equal(await ask(`${run.url}/health`), 'TypeError');
    assert.equal(run.simulator?.received.length, 0);
  });
});
