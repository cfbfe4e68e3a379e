/** What only a local run tells: its last requests, faults on demand, and when an outage begins and ends. */

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type TestContext, test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { createQuoteOrigins, type QuoteOrigin } from '../../infra/local/quote-origins.ts';
import type { ExplainedRequest } from '../../infra/local/request-log.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { viewOf } from '../../lib/cache/snapshots/index.ts';
import type { StreamedBatch } from '../../lib/cache/snapshots/streamed.ts';
import { follow, streamStockSnapshots, viaGateway } from '../../lib/client/index.ts';
import { accountsPath } from '../support/core.ts';
import { freePorts } from '../support/free-ports.ts';

const key = 'key-of-the-operator';
const other = 'key-of-an-app';

async function runFor(t: TestContext) {
  const sentences: string[] = [];
  const settings = readSettings({
    ...freePorts,
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

test('nothing of a token, a key or an account is there either when it is written in another form', async (t) => {
  const { ask, requests, settings, simulator, url } = await runFor(t);
  const [account = ''] = simulator!.accounts.map(({ account_id }) => account_id);
  const token = `eyJhbGciOiJFUzI1NiJ9.${btoa('{"sub":"ada"}').replace(/=+$/, '')}.c2lnbmF0dXJl`;
  const { appKey, appSecret } = settings.credentials;
  const foreign = 'Z9Y8X7W6V5U4T3S2';
  const hidden = [account, key, appKey, appSecret, token, foreign];
  const oneLetter = (text: string) =>
    `${text.slice(0, 5)}%${text.charCodeAt(5).toString(16)}${text.slice(6)}`;
  const eachLetter = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
  for (const write of [
    (text: string) => text,
    oneLetter,
    eachLetter,
    (text: string) => oneLetter(oneLetter(text)).replace(/%/, '%25'),
  ])
    for (const one of hidden) {
      const name = one === foreign ? oneLetter('account_id') : 'x';
      await ask(`${accountsPath}?${name}=${write(one)}`);
      await ask(`/nowhere/${one === foreign ? '' : write(one)}`);
    }
  const body = JSON.stringify({ account_id: account }).replace('account_id', '\\u0061ccount_id');
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  await fetch(`${url}/trading/orders/cancel`, { method: 'POST', headers, body });
  for (const { path, query, refusal, sent } of await requests()) {
    let text = JSON.stringify([path, query, refusal, sent]);
    for (let times = 0; times < 3; times++)
      text = text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    for (const one of hidden) assert.ok(!text.toLowerCase().includes(one.toLowerCase()), text);
  }
});

test('all of it is the operator’s', async (t) => {
  const { ask } = await runFor(t);
  for (const path of ['/_run', '/_run/requests', '/_run/origins?symbols=AAPL'])
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

test('a record that a stream tells is there with the function that fetched it', async (t) => {
  const { url, ask } = await runFor(t);
  const query = 'symbols=AAPL&category=US_STOCK';
  const origins = async () =>
    ((await (await ask(`/_run/origins?${query}`)).json()) as { origins: { AAPL: readonly QuoteOrigin[] } })
      .origins.AAPL;
  assert.deepEqual(await origins(), []);
  assert.equal((await ask(`/openapi/market-data/stock/snapshot?${query}`)).status, 200);
  const [fetched] = await origins();
  assert.deepEqual([fetched?.source, fetched?.by], ['other_fetch', 'market-data']);
  const end = new AbortController();
  const connection = viaGateway({ baseUrl: url, apiKey: key });
  const told = new Set<number | undefined>();
  for await (const { quotes } of follow(
    streamStockSnapshots,
    connection,
    { symbols: ['AAPL'], category: 'US_STOCK' },
    { signal: end.signal },
  )) {
    told.add(quotes.get('AAPL')?.at);
    const own = (await origins()).find(({ source, at }) => source === 'own_fetch' && told.has(at));
    if (own) {
      assert.equal(own.by, 'quote-streams');
      end.abort();
    }
  }
  assert.ok(told.has(fetched?.at), 'the stream began with what another function had fetched');
  const times = (await origins()).map(({ at }) => at);
  assert.deepEqual(times, times.toSorted().reverse(), 'the newest is first');
});

test('what the channel told before is still known when its list is told again', async () => {
  const origins = createQuoteOrigins();
  const { streamed } = origins.listening({
    streamed: () => () => ({ write: async () => undefined }),
  } as unknown as Parameters<typeof origins.listening>[0]);
  const log = streamed('table', 'upstream')('partition');
  const carried = [{ category: 'US_STOCK', symbols: ['AAPL'] }];
  for (const at of [1, 2]) await log.write({ carried, signs: [at] } as unknown as StreamedBatch);
  const { id } = viewOf([['category', 'US_STOCK']]);
  assert.deepEqual(
    origins.of(id, ['AAPL']).AAPL?.map(({ at, source }) => [at, source]),
    [
      [2, 'channel'],
      [1, 'channel'],
    ],
  );
});
