/** What is taken as a request and as a reply, and in which words the rest is refused. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { getStockSnapshots, listStockBars, operations, placeOrder } from '../../lib/catalogue/index.ts';
import {
  busEntry,
  joinParts,
  parseReply,
  parseRequest,
  quoteLookupRequested,
  type ReadRequested,
  readRequested,
} from '../../lib/events/index.ts';

const request = { request_id: 'r-1', symbols: ['AAPL', 'MSFT', 'AAPL'], category: 'US_STOCK' } as const;
const envelope = {
  id: 'e',
  source: 'me',
  time: '2026-11-20T15:00:00Z',
  'detail-type': 'QuoteLookupRequested',
};

const parse = (came: unknown) => parseRequest(came, operations);
const lookupOf = (came: unknown) => {
  const parsed = parse(came);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.lookup;
};
const faultsOf = (came: unknown) => {
  const parsed = parse(came);
  assert.ok(!parsed.ok);
  return parsed;
};

test('bare JSON, its text, and the envelope around it are the same request', () => {
  const lookup = lookupOf(request);
  assert.deepEqual(lookupOf(JSON.stringify(request)), lookup);
  assert.deepEqual(lookupOf({ ...envelope, detail: request }), { ...lookup, source: 'me' });
  assert.ok(lookup.kind === 'quotes');
  assert.deepEqual(lookup.symbols, ['AAPL', 'MSFT']);
  assert.equal(lookup.isReplay, false);
  assert.equal(lookupOf({ ...envelope, 'replay-name': 'r', detail: request }).isReplay, true);
});

test('the content is that of the question, not of its deadline or form', () => {
  const { content } = lookupOf(request);
  const at = { deadline: '2026-11-20T15:00:00.5Z', deadline_seconds: 7, overnight_required: false };
  const lookup = lookupOf({ ...request, ...at });
  assert.equal(lookup.content, content);
  assert.equal(lookup.deadlineMs, Date.UTC(2026, 10, 20, 15, 0, 0, 500));
  assert.equal(lookup.deadlineSeconds, 7);
  for (const change of [
    { symbols: ['MSFT', 'AAPL'] },
    { category: 'US_ETF' },
    { extend_hour_required: true },
    { max_age_seconds: 0 },
  ])
    assert.notEqual(lookupOf({ ...request, ...change }).content, content);
  const read = (query: object) =>
    lookupOf({ request_id: 'r', operation: 'getStockSnapshots', query }).content;
  assert.equal(
    read({ symbols: ['AAPL', 'MSFT'], category: 'US_STOCK', overnight_required: true }),
    read({ overnight_required: 'True', category: 'US_STOCK', symbols: 'AAPL,MSFT' }),
  );
});

const wrong: readonly (readonly [what: string, came: unknown, reason: RegExp, id?: string])[] = [
  [
    'no JSON',
    '{',
    /^\/: not a JSON object: it ends at line 1, column 2, where a name in double quotes or } is expected$/,
  ],
  ['a list', '[]', /^\/: not a JSON object$/],
  ['a number', 1, /^\/: not a JSON object$/],
  ['nothing', {}, /request_id: required; .*symbols: required; category: required/],
  ['no detail', envelope, /^\/: required$/],
  [
    'a reply',
    { ...envelope, 'detail-type': 'QuoteLookupCompleted', detail: request },
    /^detail-type: no request/,
    'r-1',
  ],
  [
    'a read in the envelope of a lookup',
    { ...envelope, detail: { request_id: 'r', operation: 'getStockBars' } },
    /operation: no member/,
    'r',
  ],
  ['an unknown member', { ...request, max_age: 1 }, /^max_age: no member of this event$/, 'r-1'],
  ['no symbols', { ...request, symbols: [] }, /^symbols: /, 'r-1'],
  ['too many symbols', { ...request, symbols: Array(501).fill('A') }, /^symbols: /, 'r-1'],
  ['a symbol with a comma', { ...request, symbols: ['A,B'] }, /^symbols\.0: /, 'r-1'],
  ['a number for a symbol', { ...request, symbols: [1] }, /^symbols\.0: /, 'r-1'],
  ['another category', { ...request, category: 'US' }, /^category: /, 'r-1'],
  ['a flag as text', { ...request, overnight_required: 'true' }, /^overnight_required: /, 'r-1'],
  ['a negative age', { ...request, max_age_seconds: -1 }, /^max_age_seconds: /, 'r-1'],
  ['no moment', { ...request, deadline: 'soon' }, /^deadline: /, 'r-1'],
  ['a moment that is none', { ...request, deadline: '2026-13-40T00:00:00Z' }, /^deadline: /, 'r-1'],
  ['a moment of somewhere', { ...request, deadline: '2026-11-20T15:00:00+01:00' }, /^deadline: /, 'r-1'],
  ['no time at all', { ...request, deadline_seconds: 0 }, /^deadline_seconds: /, 'r-1'],
  ['an id with a space', { ...request, request_id: 'a b' }, /^request_id: /],
  [
    'an id that Scheduler did not fill in',
    { ...request, request_id: '<aws.scheduler.execution-id>' },
    /^request_id: /,
  ],
  ['an unknown operation', { request_id: 'r', operation: 'getQuote' }, /^operation: no such operation/, 'r'],
  ['an order', { request_id: 'r', operation: 'placeOrder' }, /^operation: it has a side effect/, 'r'],
  [
    'a read without its parameters',
    { request_id: 'r', operation: 'getStockSnapshots' },
    /^symbols: required; category: required$/,
    'r',
  ],
  [
    'a read with another’s',
    { request_id: 'r', operation: 'getStockSnapshots', query: { symbols: 'A', category: 'US_STOCK', x: 1 } },
    /^x: unknown parameter$/,
    'r',
  ],
  [
    'a body too many',
    {
      request_id: 'r',
      operation: 'getStockSnapshots',
      query: { symbols: 'A', category: 'US_STOCK' },
      body: {},
    },
    /^body: getStockSnapshots takes no body/,
    'r',
  ],
  [
    'a body too few',
    { request_id: 'r', operation: 'listStockBars' },
    /^body: listStockBars needs a JSON body/,
    'r',
  ],
];
for (const [what, came, reason, id] of wrong)
  test(`refused: ${what}`, () => {
    const refused = faultsOf(came);
    assert.match(refused.reason, reason);
    assert.equal(refused.requestId, id);
  });

test('what is nested deeper than anything that is asked for is refused, wherever it stands', () => {
  const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
  for (const deep of [nested(100_000, '[', ']'), `${nested(20_000, '{"a":', '}').replace('}', '1}')}`]) {
    const head = '"request_id":"r-1"';
    for (const text of [
      `{${head},"symbols":${deep}}`,
      `{${head},"operation":"listStockBars","body":{"a":${deep}}}`,
      `{"detail-type":"ReadRequested","detail":{${head},"query":{"a":${deep}}}}`,
    ]) {
      const refused = faultsOf(text);
      assert.equal(refused.reason, '/: nested deeper than 64 levels');
      assert.equal(refused.requestId, 'r-1');
    }
    const { faults } = faultsOf(`{"detail-type":${deep},"detail":{${head}}}`);
    assert.match(faults[0]?.received ?? '', /^an? (list|object)$/);
  }
});

test('of a request with many faults the first ones are reported', () => {
  const { faults } = faultsOf({ ...request, symbols: Array(400).fill(',') });
  assert.equal(faults.length, 20);
  const { received } = faultsOf({ ...request, category: 'x'.repeat(10_000) }).faults[0]!;
  assert.ok((received ?? '').length <= 101);
});

test('reported names are short, and texts that every reader accepts', () => {
  const name = '😀'.repeat(50_000);
  const read = { request_id: 'r-1', operation: 'getStockSnapshots', query: { [`x${name}`]: 1 } };
  for (const came of [{ ...request, [`x${name}`]: 1 }, read]) {
    const refused = faultsOf(came);
    assert.ok(refused.reason.length < 5000, `${refused.reason.length}`);
    for (const { name: reported } of refused.faults) {
      assert.ok(reported.length <= 101, `${reported.length}`);
      assert.doesNotMatch(reported, /\p{Cs}/u);
    }
  }
});

test('what is built is what is taken, on the bus too', () => {
  const event = quoteLookupRequested({ ...request, deadline_seconds: 30 });
  const entry = busEntry(event, { bus: 'b', source: 'nightly' });
  assert.deepEqual(
    [entry.EventBusName, entry.Source, entry.DetailType],
    ['b', 'nightly', 'QuoteLookupRequested'],
  );
  assert.equal(lookupOf({ ...envelope, detail: JSON.parse(entry.Detail) }).deadlineSeconds, 30);
  const read = readRequested(getStockSnapshots, {
    request_id: 'r',
    query: { symbols: ['AAPL'], category: 'US_STOCK' },
  });
  assert.equal(lookupOf({ ...envelope, 'detail-type': read.detailType, detail: read.detail }).kind, 'read');
});

const ofSnapshots = (detail: Omit<ReadRequested<typeof getStockSnapshots>, 'operation'>) =>
  readRequested(getStockSnapshots, detail);

test('what would be refused is not built', () => {
  assert.throws(() => quoteLookupRequested({ ...request, symbols: [] }), /symbols/);
  // @ts-expect-error another operation's parameters
  const another = { request_id: 'r', query: { symbol: 'A' } } satisfies Parameters<typeof ofSnapshots>[0];
  assert.throws(() => ofSnapshots(another as never), TypeError);
  assert.throws(() => readRequested(listStockBars, { request_id: 'r' }), /body/);
  assert.throws(() => readRequested(placeOrder, { request_id: 'r' }), /side effect/);
});

const completed = {
  request_id: 'r',
  part: 1,
  parts: 1,
  category: 'US_STOCK',
  as_of: '2026-11-20T15:00:00.000Z',
  quotes: [{ symbol: 'AAPL', price: '1.10' }],
  unknown: [],
  missing: [],
};

test('a reply is read from its envelope or the text of it; anything else is none', () => {
  const event = { 'detail-type': 'QuoteLookupCompleted', source: 'countersign', detail: completed };
  const reply = parseReply(JSON.stringify(event));
  assert.ok(reply?.detailType === 'QuoteLookupCompleted');
  assert.equal(reply.detail.quotes[0]?.price, '1.10');
  assert.deepEqual(parseReply(event), reply);
  const odd = [{ symbol: 'AAPL', price: 1, new: true }];
  assert.ok(
    parseReply({ ...event, detail: { ...completed, quotes: odd, new: true } }),
    'replies may say more',
  );
  const failed = { request_id: 'r', code: 'deadline_passed', retryable: true, detail: 'late' };
  assert.ok(parseReply({ 'detail-type': 'ReadFailed', detail: failed }));
  for (const none of [
    undefined,
    '{',
    completed,
    { ...event, 'detail-type': 'QuoteLookupRequested' },
    { ...event, detail: { ...completed, quotes: undefined } },
    { 'detail-type': 'QuoteLookupFailed', detail: { ...failed, retryable: 'true' } },
  ])
    assert.equal(parseReply(none), undefined);
});

test('parts join in any order; of a failure there is one', () => {
  assert.equal(joinParts([]), undefined);
  const reply = parseReply({ 'detail-type': 'QuoteLookupCompleted', detail: completed });
  assert.ok(reply);
  assert.deepEqual(joinParts([reply, reply]), reply);
  const failed = parseReply({
    'detail-type': 'QuoteLookupFailed',
    detail: { request_id: 'r', code: 'c', retryable: true, detail: 'd' },
  });
  assert.ok(failed);
  assert.equal(joinParts([failed]), failed);
  const whole = parseReply({
    'detail-type': 'ReadCompleted',
    detail: { request_id: 'r', part: 1, parts: 1, operation: 'o', as_of: completed.as_of, answer: [1] },
  });
  assert.ok(whole);
  assert.equal(joinParts([whole]), whole);
});
