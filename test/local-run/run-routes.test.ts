/** What only a local run tells: its last requests, faults on demand, and when an outage begins and ends. */

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type TestContext, test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import type { ExplainedRequest } from '../../infra/local/request-log.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { accountsPath } from '../support/core.ts';

const key = 'key-of-the-operator';
const other = 'key-of-an-app';

async function runFor(t: TestContext) {
  const sentences: string[] = [];
  const settings = readSettings({
    PORT: '0',
    UPSTREAM_PORT: '0',
    EVENTS_PORT: '0',
    MARKET_STREAM_PORT: '0',
    API_KEY: key,
    OTHER_API_KEYS: other,
  });
  const run = await startLocalRun(settings, { outage: (sentence) => sentences.push(sentence) });
  t.onTestFinished(() => run.close());
  const ask = (path: string, body?: object, apiKey = key) =>
    fetch(run.url + path, {
      headers: { 'x-api-key': apiKey },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  const requests = async () =>
    ((await (await ask('/_run/requests')).json()) as { requests: readonly ExplainedRequest[] }).requests;
  return { ...run, settings, sentences, ask, requests };
}

test('a request is there with its refusal, or with what was sent upstream; no secret, key or account is', async (t) => {
  const { ask, requests, settings, simulator } = await runFor(t);
  assert.equal((await ask(`${accountsPath}?nothing=such&api_key=${key}`)).status, 400);
  assert.equal((await ask(accountsPath)).status, 200);
  const [account = ''] = simulator!.accounts.map(({ account_id }) => account_id);
  await ask(`/trading/orders/open?account_id=${account}`);
  const [ofAccount, list, refused, ...more] = await requests();
  assert.equal(more.length, 0, 'what the page asks is not among them');
  assert.equal(refused?.refusal?.code, 'invalid_parameter');
  assert.match(refused?.refusal?.detail ?? '', /nothing/);
  const [sent] = list?.sent ?? [];
  assert.equal(sent?.answered, '200');
  assert.match(Object.fromEntries(sent?.steps ?? []).signature ?? '', /HMAC-SHA256/);
  assert.equal(ofAccount?.query, `account_id=${account.slice(0, 4)}…`);
  const text = JSON.stringify([ofAccount, list, refused]);
  for (const hidden of [settings.credentials.appSecret, settings.credentials.appKey, key, account])
    assert.ok(!text.includes(hidden), text);
});

test('all of it is the operator’s', async (t) => {
  const { ask } = await runFor(t);
  for (const path of ['/_run', '/_run/requests'])
    assert.equal((await ask(path, undefined, other)).status, 403);
  for (const path of ['/_run/faults', '/_run/phones']) {
    assert.equal((await ask(path, {}, other)).status, 403);
    assert.equal((await ask(path, { kind: 'flood' })).status, 400);
  }
});

test('an outage is told once when it begins, and once when it is over', async (t) => {
  const { ask, sentences } = await runFor(t);
  assert.equal((await ask('/_run/faults', { kind: 'down' })).status, 200);
  const read = () => ask('/openapi/market-data/stock/quotes?symbol=AAPL&category=US_STOCK');
  for (let tries = 0; tries < 3; tries++) assert.notEqual((await read()).status, 200);
  await ask('/_run/faults', { kind: 'none' });
  // The gateway lets an upstream that fails rest for a moment.
  while ((await read()).status !== 200) await delay(250);
  assert.equal(sentences.length, 2, sentences.join('\n'));
  assert.match(sentences[0] ?? '', /^The upstream is away: /);
  assert.match(sentences[1] ?? '', /^The upstream answers again, after \d+ s\.$/);
});
