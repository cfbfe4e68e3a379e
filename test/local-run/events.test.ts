/** Lookups by event in the local run: entries are put on its bus over HTTP, and answered with the replies. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { createLocalBus } from '../../infra/local/bus.ts';
import { createEventsEndpoint } from '../../infra/local/events-endpoint.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { busEntry, parseReply, quoteLookupRequested } from '../../lib/events/index.ts';
import { snapshotTarget } from '../support/core.ts';
import { each } from '../support/each.ts';
import { freePorts } from '../support/free-ports.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const key = 'key-of-this-test';
const withKey = { 'x-api-key': key };

interface Reply {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly replies: readonly Reply[];
  readonly unanswered?: readonly { readonly entry: number; readonly why: string }[];
}

async function runFor(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const settings = readSettings({
    API_KEY: key,
    ...freePorts,
    // Its reads would be among the upstream's requests.
    TRADE_EVENTS: 'off',
    ...env,
  });
  const run = await startLocalRun(settings);
  t.onTestFinished(() => run.close());
  const put = (body: unknown, headers: Readonly<Record<string, string>> = withKey) =>
    fetch(`${run.url}/_events`, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    ...run,
    put,
    async answerTo(body: unknown): Promise<Answer> {
      const response = await put(body);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return (await response.json()) as Answer;
    },
  };
}

const quotes = (request_id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  source: 'report',
  'detail-type': 'QuoteLookupRequested',
  detail: { request_id, symbols: ['AAPL', 'MSFT'], category: 'US_STOCK', ...more },
});

const read = (request_id: string, operation: string, query: object = {}) => ({
  source: 'report',
  'detail-type': 'ReadRequested',
  detail: { request_id, operation, query },
});

test('a request is answered with its reply, whose records are the upstream’s bytes', async (t) => {
  const { url, put, bus } = await runFor(t);
  const published: string[] = [];
  bus.subscribe(({ source, detailType }) => published.push(`${source} ${detailType}`));
  const text = await (await put(quotes('one'))).text();
  const { replies, unanswered } = JSON.parse(text) as Answer;
  assert.equal(unanswered, undefined);
  assert.deepEqual(
    replies.map(({ source, 'detail-type': type, detail }) => [source, type, detail.requester]),
    [['countersign', 'QuoteLookupCompleted', 'report']],
  );
  assert.ok(parseReply(replies[0]));
  assert.deepEqual(published, ['report QuoteLookupRequested', 'countersign QuoteLookupCompleted']);
  // Over HTTP the same records come from the shared cache, unless they have just been read anew.
  const isSame = async (reply: string) => {
    const records = await (await fetch(url + snapshotTarget, { headers: withKey })).text();
    const [first = ''] = /\{.*?\}(?=[,\]])/.exec(records) ?? [];
    return first.includes('"symbol"') && reply.includes(first);
  };
  let isFound = await isSame(text);
  for (let nth = 0; nth < 20 && !isFound; nth++)
    isFound = await isSame(await (await put(quotes(`again-${nth}`))).text());
  assert.ok(isFound);
});

test('the requests of a list share calls at the upstream, and each has its reply', async (t) => {
  const { answerTo, simulator } = await runFor(t);
  const { replies } = await answerTo([
    quotes('one'),
    quotes('two', { symbols: ['AAPL', 'NVDA'] }),
    read('three', 'getCompanyProfile', { symbol: 'AAPL', category: 'US_STOCK' }),
  ]);
  assert.deepEqual(
    replies.map(({ 'detail-type': type, detail }) => [type, detail.request_id]),
    [
      ['QuoteLookupCompleted', 'one'],
      ['QuoteLookupCompleted', 'two'],
      ['ReadCompleted', 'three'],
    ],
  );
  assert.equal(simulator?.received.length, 2);
});

test('an entry may be as countersign/events makes it for PutEvents', async (t) => {
  const { answerTo } = await runFor(t);
  const wanted = quoteLookupRequested({ request_id: 'one', symbols: ['AAPL'], category: 'US_STOCK' });
  const { replies } = await answerTo(busEntry(wanted, { bus: 'Countersign-dev-lookups', source: 'backend' }));
  assert.deepEqual(
    replies.map(({ detail }) => [detail.requester, detail.request_id]),
    [['backend', 'one']],
  );
});

test('entries that a bus would not take are too large, however many they are', async (t) => {
  const { put, url, answerTo, bus } = await runFor(t);
  // In UTF-8, as EventBridge counts: two bytes each.
  const entry = (letters: number) => ({
    source: 'a',
    'detail-type': 'b',
    detail: { x: 'é'.repeat(letters) },
  });
  const rest = 2 + '{"x":""}'.length;
  const taken = (256 * 1024 - 2 - rest) / 2;
  assert.equal((await answerTo(entry(taken))).replies.length, 0);
  const published: unknown[] = [];
  t.onTestFinished(bus.subscribe((event) => published.push(event)));
  for (const body of [entry(taken + 1), [entry(taken / 2), entry(taken / 2)]]) {
    const response = await put(body);
    const { code, detail } = (await response.json()) as Readonly<Record<string, string>>;
    assert.deepEqual([response.status, code], [413, 'payload_too_large']);
    assert.match(detail ?? '', /^The entries have 26\d{4} bytes; a bus takes less than 262144 at once/);
  }
  assert.deepEqual(published, []);
  assert.equal((await fetch(`${url}/health`)).status, 200);
});

test('an entry without a reply is told why', async (t) => {
  const { answerTo } = await runFor(t);
  await answerTo(quotes('one'));
  const { replies, unanswered = [] } = await answerTo([
    quotes('one'),
    quotes('one', { symbols: ['NVDA'] }),
    { ...quotes('two'), 'detail-type': 'QuoteLookupRequest' },
    quotes('', { symbols: 'AAPL' }),
    quotes('three'),
  ]);
  assert.deepEqual(
    replies.map(({ detail }) => detail.request_id),
    ['three'],
  );
  assert.deepEqual(each(unanswered, 'entry'), [0, 1, 2, 3]);
  const whys = unanswered.map(({ why }) => why);
  for (const [index, pattern] of [
    /^It was answered before:/,
    /dead letter, id_conflict/,
    /^No rule takes its detail-type; requests are QuoteLookupRequested and ReadRequested\. Did you mean QuoteLookupRequested\?$/,
    /dead letter, invalid_request: .*request_id/,
  ].entries())
    assert.match(whys[index] ?? '', pattern);
});

test('no event reads account data, or has a side effect', async (t) => {
  const { answerTo, simulator } = await runFor(t);
  const closed = operations.filter(({ group, sideEffect }) => sideEffect || isAccountData(group));
  assert.ok(closed.some(({ sideEffect }) => !sideEffect));
  for (let from = 0; from < closed.length; from += 10) {
    const part = closed.slice(from, from + 10);
    const { replies } = await answerTo(part.map(({ id }) => read(`read-${id}`, id)));
    assert.deepEqual(
      replies.map(({ 'detail-type': type, detail }) => [type, detail.request_id, detail.code]),
      part.map(({ id }) => ['ReadFailed', `read-${id}`, 'invalid_request']),
    );
  }
  assert.equal(simulator?.received.length, 0);
});

test('a request waits while the upstream fails, and is answered when it answers', async (t) => {
  let failures = 3;
  const simulator = await startSimulator({
    appKey: 'k',
    appSecret: 's',
    fault: () => (failures-- > 0 ? { kind: 'status', status: 500 } : undefined),
  });
  t.onTestFinished(() => simulator.close());
  const { bus } = await runFor(t, {
    UPSTREAM_BASE_URL: simulator.url,
    APP_KEY: 'k',
    APP_SECRET: 's',
    CACHE: 'off',
  });
  // Without the endpoint, which gives up on a busy machine.
  const replied = new Promise<string>((resolve) =>
    bus.subscribe(({ source, detailType }) => {
      if (source === 'countersign') resolve(detailType);
    }),
  );
  const { detail, source } = read('one', 'getCompanyProfile', { symbol: 'AAPL', category: 'US_STOCK' });
  bus.publish({ source, detailType: 'ReadRequested', detail: JSON.stringify(detail) });
  assert.equal(await replied, 'ReadCompleted');
  assert.equal(simulator.received.length, 4);
});

test('what still waits when the client would give up is said to wait', async () => {
  const bus = createLocalBus();
  const endpoint = createEventsEndpoint({
    bus,
    lookups: { settled: () => new Promise(() => {}) },
    waitMs: 0,
  });
  const event = {
    resource: '/_events',
    body: JSON.stringify(quotes('one')),
    isBase64Encoded: false,
    headers: {},
    requestContext: {},
  };
  const { body } = await endpoint(event as never, {} as never);
  assert.deepEqual(JSON.parse(body), {
    replies: [],
    unanswered: [
      {
        entry: 0,
        why: 'It still waits, at most until its deadline (deadline_seconds, 300 where it names none); its reply will be on the bus.',
      },
    ],
  });
});

test('the bus takes entries with the key alone, so that no page of another origin asks by event', async (t) => {
  const { put, simulator } = await runFor(t);
  const response = await put(quotes('one'), { 'content-type': 'text/plain' });
  assert.equal(response.status, 403);
  assert.equal(((await response.json()) as { code: string }).code, 'missing_api_key');
  assert.equal(simulator?.received.length, 0);
});

test('what is no entry is refused with its place', async (t) => {
  const { put } = await runFor(t);
  for (const [body, names] of [
    [{}, ['/source', '/detail-type', '/detail']],
    [[quotes('one'), { ...quotes('two'), source: 'countersign' }], ['/1/source']],
    [{ ...quotes('one'), detail: '{}' }, ['/detail']],
    [{ Source: 'a', DetailType: 'QuoteLookupRequested', Detail: 'no JSON' }, ['/detail']],
    ['text', ['/']],
    [[], ['/']],
    [Array(11).fill(quotes('one')), ['/']],
  ] as const) {
    const response = await put(body, { ...withKey, accept: 'application/problem+json' });
    assert.equal(response.status, 400);
    const { code, detail, errors } = (await response.json()) as {
      code: string;
      detail: string;
      errors: { name: string }[];
    };
    assert.equal(code, 'invalid_body');
    assert.match(detail, /Send \{"source":/);
    assert.deepEqual(each(errors, 'name'), names);
  }
});

test('what is wrong is told in words of the project, with line and column where it is no JSON', async (t) => {
  const { url } = await runFor(t);
  for (const [body, sentence] of [
    ['{"source":"a",\n}', /^The body is not valid JSON: at line 2, column 1 a name in double quotes is/],
    ["{'source':1}", /^The body is not valid JSON: at line 1, column 2 a name in double quotes or } is/],
    ['', /^The body is not valid JSON: it is empty\. Send /],
    ['null', /^\/: not an allowed value \(Object\)\. Send /],
    ['[]', /^\/: too short \(>=1\)\. Send /],
    ['{"source":"","detail-type":"A","detail":{}}', /^\/source: too short \(>=1\)\. Send /],
  ] as const) {
    const response = await fetch(`${url}/_events`, { method: 'POST', headers: withKey, body });
    assert.match(((await response.json()) as { detail: string }).detail, sentence);
  }
});

test('without market facts there is no such path', async (t) => {
  const { put } = await runFor(t, { OPEN_GROUPS: 'accounts,orders' });
  assert.equal((await put(quotes('one'))).status, 404);
});
