/** The calls that a batch makes, and the replies that its requesters receive. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { joinParts, parseReply } from '../../lib/events/index.ts';
import type { Refusal } from '../../lib/gateway/index.ts';
import { callerName } from '../../lib/identity/caller.ts';
import { createMemoryLookupStore, lookUpDirectly } from '../../lib/lookups/index.ts';
import { each } from '../support/each.ts';
import { createWorld, market, quotes, recordOf, symbolsOf, type World } from './world.ts';

const only = (world: World, id: string) => {
  const replies = world.repliesTo(id);
  assert.equal(replies.length, 1, JSON.stringify(replies));
  return replies[0]!;
};
/** Sends one request, and lets a function take it; this is what its requester hears. */
async function replyTo(
  request: { readonly request_id: string },
  upstream: World['upstream'] = market,
  change: Parameters<typeof createWorld>[0] = {},
) {
  const world = createWorld(change);
  Object.assign(world, { upstream });
  world.send(request);
  await world.deliver();
  return { world, ...only(world, request.request_id) };
}
const snapshotRead = {
  request_id: 'r',
  operation: 'getStockSnapshots',
  query: { symbols: 'A', category: 'US_STOCK' },
};
const symbols = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `S${from + index}`);

test('overlapping requests are one call, and each has its own in its own order, byte for byte', async () => {
  const world = createWorld();
  const one = quotes(['B', 'A']);
  const other = quotes(['C', 'B', 'B']);
  for (const request of [one, other]) world.send(request);
  await world.deliver();
  assert.equal(world.calls.length, 1);
  assert.deepEqual([...symbolsOf(world.calls[0]!)].sort(), ['A', 'B', 'C']);
  assert.equal(world.calls[0]?.priority, 'events');
  assert.ok(only(world, one.request_id).text.endsWith(`"quotes":[${recordOf('B')},${recordOf('A')}]}`));
  assert.ok(only(world, other.request_id).text.endsWith(`"quotes":[${recordOf('C')},${recordOf('B')}]}`));
  assert.equal(world.queue.length, 0);
});

test('a call takes a hundred symbols; each view, and each maximum age, is a call of its own', async () => {
  const world = createWorld();
  world.send(quotes(symbols(130)));
  world.send(quotes(symbols(60, 100)));
  await world.deliver();
  assert.deepEqual(world.calls.map((call) => symbolsOf(call).length).sort(), [100, 60]);
  world.calls.length = 0;
  world.send(quotes(['A'], { extend_hour_required: true, overnight_required: false }));
  world.send(quotes(['A'], { category: 'US_ETF' }));
  world.send(quotes(['A']));
  await world.deliver();
  assert.equal(world.calls.length, 3);
  assert.ok(
    world.calls.some(({ query }) =>
      query.some(([name, value]) => name === 'extend_hour_required' && value === 'true'),
    ),
  );
  world.calls.length = 0;
  world.send(quotes(symbols(80), { max_age_seconds: 60 }));
  world.send(quotes(symbols(50, 79), { max_age_seconds: 0 }));
  await world.deliver();
  const directives = world.calls.map((call) => [call.headers['cache-control'], symbolsOf(call).length]);
  assert.deepEqual(directives.sort(), [
    ['max-age=0', 100],
    ['max-age=60', 29],
  ]);
});

test('the age of a cached answer counts from its as_of', async () => {
  const { world, detail } = await replyTo(quotes(['A']), () => ({
    kind: 'cached',
    body: new TextEncoder().encode(`[${recordOf('A')}]`),
    cacheResult: 'hit',
    ageMs: 2000,
    ttlMs: 0,
    freshMs: 2000,
  }));
  assert.equal(detail.as_of, new Date(world.now - 2000).toISOString());
});

test('a symbol that the upstream refuses is named, and costs no other requester its quotes', async () => {
  const world = createWorld();
  const good = quotes(['A', 'B', 'C']);
  const mixed = quotes(['D', 'XBAD']);
  const bad = quotes(['XBAD']);
  for (const request of [good, mixed, bad]) world.send(request);
  await world.deliver();
  assert.deepEqual(only(world, good.request_id).detail.unknown, []);
  assert.equal((only(world, good.request_id).detail.quotes as []).length, 3);
  assert.deepEqual(only(world, mixed.request_id).detail.unknown, ['XBAD']);
  assert.equal((only(world, mixed.request_id).detail.quotes as []).length, 1);
  assert.equal(only(world, bad.request_id).type, 'QuoteLookupCompleted');
  assert.deepEqual(only(world, bad.request_id).detail.unknown, ['XBAD']);
});

test('a requester of invalid symbols only does not cause a call for each in one batch', async () => {
  const world = createWorld();
  world.send(quotes(Array.from({ length: 500 }, (_, index) => `X${index}`)));
  await world.deliver();
  assert.ok(world.calls.length <= 40, `${world.calls.length} calls`);
  assert.equal(world.waits.length, 1);
});

test('many invalid symbols cost no other requester its quotes, not even one with an invalid symbol of its own', async () => {
  for (const where of ['first', 'in the middle', 'last']) {
    const world = createWorld();
    const invalid = quotes(Array.from({ length: 150 }, (_, index) => `X${index}`));
    const good = Array.from({ length: 20 }, (_, index) => quotes([`G${index}`, 'G']));
    const typo = quotes(['T1', 'T2', 'XBAD', 'T3', 'G']);
    const others = [...good, typo];
    const at = { first: 0, 'in the middle': 10, last: others.length }[where];
    for (const request of others.toSpliced(at ?? 0, 0, invalid)) world.send(request);
    await world.deliver();
    for (const { request_id, symbols } of good)
      assert.equal((only(world, request_id).detail.quotes as []).length, symbols.length, where);
    assert.deepEqual(only(world, typo.request_id).detail.unknown, ['XBAD'], where);
    assert.deepEqual(world.repliesTo(invalid.request_id), []);
    assert.ok(world.calls.length <= 50, `${world.calls.length} calls`);
  }
});

test('sources identify requesters, and one that is throttled stops no other', async () => {
  const world = createWorld();
  const invalid = await callerName('events', 'invalid');
  world.upstream = (request) =>
    request.caller?.unit === invalid ? { code: 'throttled', retryAfterSeconds: 15 } : market(request);
  const from = (source: string, detail: object) =>
    world.send({ 'detail-type': 'QuoteLookupRequested', source, detail });
  for (let index = 0; index < 5; index++) from('invalid', quotes(symbols(100, 100 * index)));
  const [one, other, bare, odd] = [quotes(['A']), quotes(['A', 'B']), quotes(['A']), quotes(['C'])];
  from('reports', one);
  from('reports', other);
  from('with a space', odd);
  world.send(bare);
  await world.deliver();
  const callers = world.calls.map(({ caller }) => caller?.unit).filter((unit) => unit !== invalid);
  const names = ['countersign.queue', 'reports', 'with a space'];
  const expected = await Promise.all(names.map((name) => callerName('events', name)));
  assert.deepEqual(callers.sort(), expected.sort());
  for (const { request_id } of [one, other, bare, odd])
    assert.equal(only(world, request_id).type, 'QuoteLookupCompleted');
  assert.equal(world.waits.length, 5);
});

test('a symbol that the answer leaves out is unknown', async () => {
  const { detail } = await replyTo(quotes(['A', 'GONE']), () => `[${recordOf('A')}]`);
  assert.deepEqual(detail.unknown, ['GONE']);
});

test('another read passes its answer through; the same read of two is one call', async () => {
  const world = createWorld();
  world.upstream = () => '[{"date":"2026-11-20","n":1.10}]';
  const { body } = barsOf('AAPL');
  world.send({ ...barsOf('bars-1'), body });
  world.send({ ...barsOf('bars-2'), body, deadline_seconds: 60 });
  await world.deliver();
  assert.equal(world.calls.length, 1, JSON.stringify(world.dead));
  assert.equal(
    new TextDecoder().decode(world.calls[0]?.body),
    '{"symbols":["AAPL"],"category":"US_STOCK","timespan":"D"}',
  );
  for (const id of ['bars-1', 'bars-2']) {
    assert.equal(only(world, id).type, 'ReadCompleted');
    assert.ok(only(world, id).text.endsWith('"answer":[{"date":"2026-11-20","n":1.10}]}'));
  }
});

for (const code of ['data_not_subscribed', 'upstream_answer_too_large', 'unknown_operation'] as const)
  test(`${code}: fails at once, not retryable`, async () => {
    const { world, type, detail } = await replyTo(quotes(['A']), () => ({ code }));
    assert.deepEqual([type, detail.code, detail.retryable], ['QuoteLookupFailed', code, false]);
    assert.deepEqual([world.waits.length, world.queue.length, world.dead.length], [0, 0, 0]);
  });

test('the upstream’s refusal of a read is in the reply', async () => {
  const upstream = { status: 417, errorCode: 'INVALID_SYMBOL', message: 'no such' };
  const { type, detail } = await replyTo(snapshotRead, () => ({
    code: 'upstream_rejected',
    status: 422,
    upstream,
  }));
  assert.deepEqual(
    [type, detail.code, detail.retryable, detail.operation],
    ['ReadFailed', 'upstream_rejected', false, 'getStockSnapshots'],
  );
  assert.deepEqual(detail.upstream, { status: 417, error_code: 'INVALID_SYMBOL', message: 'no such' });
});

test('a failure is small, whatever was sent or said', async () => {
  const world = createWorld();
  const message = 'x'.repeat(400_000);
  world.upstream = () => ({ code: 'upstream_rejected', detail: message, upstream: { status: 417, message } });
  const names = Array.from({ length: 20 }, (_, index) => [`${index}${'ü'.repeat(12_000)}`, 1]);
  world.send({ ...snapshotRead, request_id: 'refused' });
  world.send({ request_id: 'wrong', ...Object.fromEntries(names) });
  await world.deliver();
  for (const id of ['refused', 'wrong']) {
    const { type, text, detail } = only(world, id);
    assert.ok(parseReply({ 'detail-type': type, detail }), text);
    assert.ok(Buffer.byteLength(text) <= 16 * 1024, `${text.length}`);
  }
  assert.equal(only(world, 'refused').detail.code, 'upstream_rejected');
});

test('a short limit: all wait as long as the limiter says, by a copy and not by failing, and are then answered', async () => {
  const world = createWorld();
  world.upstream = () => ({ code: 'budget_used_up', retryAfterSeconds: 7 });
  const requests = Array.from({ length: 5 }, (_, index) => quotes(symbols(100, 100 * index)));
  for (const request of requests) world.send(request);
  await world.deliver();
  // Calls that were under way together; none was begun after the refusal.
  assert.ok(world.calls.length <= 4);
  assert.equal(world.waits.length, 5);
  for (const { seconds, message } of world.waits) assert.deepEqual([seconds, message.waits], [7, 0]);
  assert.ok(world.queue.every(({ receives }) => receives === 0));
  world.upstream = market;
  await world.run();
  for (const { request_id } of requests) assert.equal(only(world, request_id).type, 'QuoteLookupCompleted');
});

test('a limit that stays short: failed as retryable at the deadline, by the reason, not later', async () => {
  const world = createWorld();
  world.upstream = () => ({ code: 'budget_used_up', retryAfterSeconds: 3 });
  const request = quotes(['A'], { deadline_seconds: 60 });
  world.send(request);
  const started = world.now;
  await world.run();
  const { type, detail } = only(world, request.request_id);
  assert.deepEqual([type, detail.code, detail.retryable], ['QuoteLookupFailed', 'budget_used_up', true]);
  assert.ok(world.now - started <= 60_000 && world.now - started > 50_000, `${world.now - started}`);
  assert.deepEqual(world.dead, []);
});

test('a long wait takes several deliveries of a length that the queue supports, up to the deadline', async () => {
  const world = createWorld();
  world.upstream = () => ({ code: 'upstream_rate_limited', retryAfterSeconds: 3600 });
  const hours = quotes(['A'], { deadline_seconds: 2 * 3600 });
  const minutes = quotes(['A']);
  for (const request of [hours, minutes]) world.send(request);
  const started = world.now;
  await world.deliver();
  assert.deepEqual(each(world.waits, 'seconds'), [900, 298]);
  while (world.now < started + 298_000) world.now += 1000;
  await world.deliver();
  assert.deepEqual(
    [only(world, minutes.request_id).detail.code, only(world, minutes.request_id).detail.retryable],
    ['upstream_rate_limited', true],
  );
  world.now = started + 900_000;
  await world.deliver();
  world.upstream = market;
  await world.run();
  assert.equal(only(world, hours.request_id).type, 'QuoteLookupCompleted');
  assert.ok(world.waits.every(({ seconds }) => seconds <= 900));
});

test('after several failures in a row the operation is left alone for the batch', async () => {
  const world = createWorld();
  world.upstream = () => ({ code: 'upstream_error' });
  for (let index = 0; index < 20; index++) world.send(quotes(symbols(100, 100 * index)));
  await world.deliver();
  assert.ok(world.calls.length <= 6, `${world.calls.length} calls`);
  assert.equal(world.waits.length, 20);
});

test('a requester whose symbols are not cached yet stops no requester whose quotes are', async () => {
  const world = createWorld();
  world.upstream = (call) =>
    symbolsOf(call).some((symbol) => symbol.startsWith('NEW'))
      ? { code: 'no_fresh_answer', retryAfterSeconds: 1 }
      : market(call);
  const from = (source: string, detail: object) =>
    world.send({ 'detail-type': 'QuoteLookupRequested', source, detail });
  for (let index = 0; index < 8; index++) from(`new-${index}`, quotes([`NEW${index}`]));
  const good = quotes(['A']);
  from('good', good);
  await world.deliver();
  assert.equal(world.repliesTo(good.request_id)[0]?.type, 'QuoteLookupCompleted');
});

const readBy = (source: string, detail: object) => ({ 'detail-type': 'ReadRequested', source, detail });
const barsOf = (request_id: string) => ({
  request_id,
  operation: 'listStockBars',
  body: { symbols: [request_id], category: 'US_STOCK', timespan: 'D' },
});

const ofOneRequester: readonly Refusal[] = [
  // Its deadline leaves no time for an attempt, its record cannot be read, its parameters make the upstream fail.
  { code: 'gateway_timeout' },
  { code: 'access_unavailable' },
  { code: 'upstream_error' },
  { code: 'budget_used_up', retryAfterSeconds: 9, isOwnShare: true },
];
for (const refusal of ofOneRequester)
  test(`${refusal.code} for one requester stops no other${refusal.isOwnShare ? ' whose share has room' : ''}`, async () => {
    const world = createWorld();
    const greedy = await callerName('events', 'greedy');
    world.upstream = ({ caller }) => (caller?.unit === greedy ? refusal : '[]');
    const ofAccount = (request_id: string, operation: string) => ({
      request_id,
      operation,
      query: { account_id: 'an-account' },
    });
    for (let n = 0; n < 8; n++) {
      world.send(readBy('greedy', barsOf(`bars-${n}`)));
      world.send(readBy('greedy', ofAccount(`orders-${n}`, 'listOpenOrders')));
    }
    world.send(readBy('good', barsOf('its-bars')));
    world.send(readBy('good', ofAccount('its-balance', 'getAccountBalance')));
    await world.deliver();
    for (const id of ['its-bars', 'its-balance']) assert.equal(only(world, id).type, 'ReadCompleted');
    const ofGreedy = world.calls.filter(({ caller }) => caller?.unit === greedy).length;
    assert.ok(ofGreedy <= 12, `${ofGreedy} calls`);
  });

test('an operation that fails for several requesters is asked for by none of a batch, and others are', async () => {
  const world = createWorld();
  const isBars = ({ path }: { path: string }) => path.includes('bars');
  world.upstream = (call) => (isBars(call) ? { code: 'upstream_error' } : '[]');
  for (let n = 0; n < 60; n++) world.send(readBy(`source-${n}`, barsOf(`bars-${n}`)));
  world.send({ request_id: 'its-balance', operation: 'getAccountBalance', query: { account_id: 'a' } });
  await world.deliver();
  assert.equal(only(world, 'its-balance').type, 'ReadCompleted');
  const asked = world.calls.filter(isBars).length;
  assert.ok(asked <= 6, `${asked} calls`);
});

test('after the time for its calls a batch makes no call to the gateway, however many requesters wait', async () => {
  const world = createWorld();
  world.upstream = () => {
    world.now += 8000;
    return '[]';
  };
  for (let n = 0; n < 30; n++) world.send(readBy(`source-${n}`, barsOf(`bars-${n}`)));
  await world.deliver();
  assert.ok(world.calls.length <= 7, `${world.calls.length} calls`);
});

test('pauses grow, are spread, and end before the deadline', async () => {
  const seconds: number[] = [];
  for (const random of [0, 0.999]) {
    const world = createWorld({ random: () => random });
    world.upstream = () => ({ code: 'upstream_unreachable' });
    world.send(quotes(['A']));
    await world.run();
    seconds.push(...world.waits.map((wait) => wait.seconds));
    assert.ok(world.waits.length < 60);
  }
  assert.ok(Math.max(...seconds) <= 23 && Math.min(...seconds) >= 1);
  assert.ok(new Set(seconds).size > 4);
});

test('at the deadline who has a part gets it, with the rest by name', async () => {
  const world = createWorld();
  world.upstream = (request) =>
    symbolsOf(request).includes('S100') ? { code: 'upstream_timeout' } : market(request);
  const request = quotes(symbols(102), { deadline_seconds: 2 });
  world.send(request);
  await world.run();
  const { type, detail } = only(world, request.request_id);
  assert.equal(type, 'QuoteLookupCompleted');
  assert.equal((detail.quotes as []).length, 100);
  assert.deepEqual(detail.missing, [
    { symbol: 'S100', code: 'upstream_timeout' },
    { symbol: 'S101', code: 'upstream_timeout' },
  ]);
});

test('an expired request fails as such, without a call, beside others that do not', async () => {
  const world = createWorld();
  const late = quotes(['A'], { deadline: new Date(world.now - 1).toISOString() });
  const slow = quotes(['A']);
  world.send(late);
  world.send(slow);
  world.now += 299_999;
  const good = quotes(['B'], { deadline: new Date(world.now + 60_000).toISOString() });
  world.send(good);
  world.now += 1;
  await world.deliver();
  for (const { request_id } of [late, slow]) {
    const { type, detail } = only(world, request_id);
    assert.deepEqual([type, detail.code, detail.retryable], ['QuoteLookupFailed', 'deadline_passed', true]);
  }
  assert.equal(only(world, good.request_id).type, 'QuoteLookupCompleted');
  assert.deepEqual(world.calls.map(symbolsOf), [['B']]);
});

test('whose deadline passes while others are asked for is not asked for any more, and fails as such', async () => {
  const world = createWorld();
  world.upstream = (request) => {
    world.now += 3000;
    return market(request);
  };
  // Four are asked at once; after them the short ones have no time left.
  const long = Array.from({ length: 4 }, (_, index) => quotes(symbols(100, 100 * index)));
  const short = quotes(['B', 'C'], { deadline_seconds: 5 });
  const shared = quotes(['C', 'D']);
  const read = { ...snapshotRead, query: { ...snapshotRead.query, symbols: 'E' }, deadline_seconds: 5 };
  for (const request of [...long, short, shared, read]) world.send(request);
  await world.deliver();
  for (const id of [short.request_id, read.request_id]) {
    const { detail } = only(world, id);
    assert.deepEqual([detail.code, detail.retryable], ['deadline_passed', true]);
  }
  assert.equal(only(world, shared.request_id).type, 'QuoteLookupCompleted');
  const asked = world.calls.flatMap(symbolsOf);
  assert.deepEqual(
    ['B', 'C', 'D', 'E'].filter((symbol) => asked.includes(symbol)),
    ['C', 'D'],
  );
});

test('what comes after the deadline is no answer, and a call lasts no longer than who waits longest', async () => {
  const world = createWorld();
  const [early, late] = [quotes(['A'], { deadline_seconds: 5 }), quotes(['A', 'B'], { deadline_seconds: 6 })];
  for (const request of [early, late]) world.send(request);
  const sent = world.now;
  world.upstream = (request) => {
    world.now += 5001;
    return market(request);
  };
  await world.deliver();
  assert.deepEqual(each(world.calls, 'deadline'), [sent + 6000]);
  assert.equal(only(world, early.request_id).detail.code, 'deadline_passed');
  assert.equal(only(world, late.request_id).type, 'QuoteLookupCompleted');
  const { failure } = await lookUpDirectly(world.options, early, world.now + 20_000);
  assert.equal(failure?.code, 'deadline_passed');
});

test('a deadline farther than twelve hours counts as twelve', async () => {
  const world = createWorld();
  const request = quotes(['A'], { deadline: new Date(world.now + 9e8).toISOString() });
  world.send(request);
  world.now += 12 * 3_600_000;
  await world.deliver();
  assert.equal(only(world, request.request_id).detail.code, 'deadline_passed');
});

/** What readers make of the texts on the bus. */
const partsOf = ({ published }: World) =>
  published.flatMap(
    ({ detailType, detail }) => parseReply(`{"detail-type":"${detailType}","detail":${detail}}`) ?? [],
  );

test('a large reply comes in parts that fit an event, and joins to what it was', async () => {
  const world = createWorld();
  const padding = 'ü'.repeat(500);
  world.upstream = (request) =>
    `[${symbolsOf(request)
      .map((symbol) => `{"symbol":"${symbol}","price":"1.0","x":"${padding}"}`)
      .join(',')}]`;
  const request = quotes(symbols(500));
  world.send(request);
  await world.deliver();
  assert.ok(world.published.length > 1);
  for (const { detail } of world.published) assert.ok(Buffer.byteLength(detail) <= 240 * 1024);
  const replies = partsOf(world);
  assert.equal(replies.length, world.published.length);
  const shuffled = [...replies.slice(1), ...replies];
  const whole = joinParts(shuffled);
  assert.ok(whole?.detailType === 'QuoteLookupCompleted');
  assert.deepEqual(each(whole.detail.quotes, 'symbol'), request.symbols);
  assert.equal(
    joinParts(shuffled.filter(({ detail }) => (detail as { part?: number }).part !== 2)),
    undefined,
  );
});

test('another large answer comes as pieces of its text', async () => {
  const world = createWorld();
  const answer = Array.from({ length: 4000 }, (_, index) => ({ at: index, text: '"\\"😀😀'.repeat(20) }));
  world.upstream = () => JSON.stringify(answer);
  world.send(barsOf('large'));
  await world.deliver();
  assert.ok(world.published.length > 2);
  for (const { detail } of world.published) assert.ok(Buffer.byteLength(detail) <= 240 * 1024);
  const whole = joinParts(partsOf(world).toReversed());
  assert.ok(whole?.detailType === 'ReadCompleted');
  assert.deepEqual(whole.detail.answer, answer);
});

test('an id that is a number from 2^53 on has the digits that were sent, in a joined answer and in a whole one', async () => {
  const id = '9007199254740993';
  for (const count of [1, 4000]) {
    const world = createWorld();
    const record = `{"symbol":"A","instrument_id":${id},"text":"\\":${id}${'x'.repeat(200)}"}`;
    world.upstream = () => `[${Array(count).fill(record)}]`;
    world.send({ request_id: 'ids', operation: 'getStockInstrument', query: { category: 'US_STOCK' } });
    await world.deliver();
    const whole = joinParts(partsOf(world));
    assert.ok(whole?.detailType === 'ReadCompleted');
    const [first] = whole.detail.answer as { instrument_id: unknown; text: string }[];
    assert.equal(first?.instrument_id, id);
    assert.ok(first.text.startsWith(`":${id}x`));
  }
});

test('pieces are texts that every reader takes: no pair of surrogates is parted', async () => {
  for (const space of ['', ' ']) {
    const world = createWorld();
    const answer = `${space}"${'😀'.repeat(200_000)}"`;
    world.upstream = () => answer;
    world.send(snapshotRead);
    await world.deliver();
    assert.ok(world.published.length > 2);
    for (const { detail } of world.published) assert.doesNotMatch(detail, /\\ud[89a-f]/);
    assert.equal(world.published.map(({ detail }) => JSON.parse(detail).text).join(''), answer);
  }
});

test('after a refusal of the limiter the batch asks for nothing else that counts against the limit', async () => {
  const world = createWorld();
  world.upstream = () => ({ code: 'budget_used_up', retryAfterSeconds: 1 });
  const reads = operations.filter(
    (one) => one.limit === 'market-data' && one.method === 'GET' && !one.sideEffect,
  );
  assert.ok(reads.length > 10);
  for (const { id, example } of reads)
    world.send({ request_id: `read-${id}`, operation: id, query: example.query ?? {} });
  await world.deliver();
  assert.ok(world.calls.length <= 4, `${world.calls.length} calls`);
  assert.equal(world.waits.length, reads.length);
});

test('an endpoint whose own counter is used up stops its own requests, and no others of the same wide limit', async () => {
  const world = createWorld();
  const isBars = (path: string) =>
    operations.some(({ id, path: own }) => id === 'listStockBars' && own === path);
  world.upstream = ({ path }) =>
    isBars(path) ? { code: 'budget_used_up', retryAfterSeconds: 1, usedUp: 'endpoint.listStockBars' } : '[]';
  const reads = operations.filter(
    ({ id, limit, method, sideEffect, legacyOf }) =>
      limit === 'market-data' && !legacyOf && !sideEffect && (method === 'GET' || id === 'listStockBars'),
  );
  for (let copy = 0; copy < 8; copy++) world.send(barsOf(`bars-${copy}`));
  const others = reads.filter(({ id }) => id !== 'listStockBars');
  for (const { id, example } of others)
    world.send({ request_id: `read-${id}`, operation: id, query: example.query ?? {} });
  await world.deliver();
  const asked = world.calls.filter(({ path }) => isBars(path)).length;
  assert.ok(asked >= 1 && asked <= 4, `${asked} calls`);
  assert.equal(world.calls.length - asked, others.length);
  assert.equal(world.waits.length, 8);
});

test('what the store has no room for fails as too large', async () => {
  const store = createMemoryLookupStore(500);
  const { type, detail } = await replyTo(quotes(symbols(50)), market, { store });
  assert.deepEqual([type, detail.code, detail.retryable], ['QuoteLookupFailed', 'answer_too_large', false]);
});

test('a batch reports its results; a report that fails costs no requester its reply', async () => {
  const world = createWorld();
  world.upstream = (request) =>
    symbolsOf(request).length > 0 ? market(request) : { code: 'data_not_subscribed' };
  const request = quotes(['A', 'XBAD']);
  for (const body of [
    request,
    request,
    'no json',
    { request_id: 'r', operation: 'getStockQuote', query: {} },
  ])
    world.send(body);
  world.now += 3000;
  await world.deliver();
  const { causes, ...report } = world.reports[0]!;
  assert.deepEqual(causes, []);
  assert.deepEqual(report, {
    answered: 1,
    failed: 0,
    waiting: 0,
    duplicates: 1,
    poisoned: 2,
    undone: 0,
    calls: 3,
    ages: [3000],
  });

  const broken = createWorld({
    report: () => {
      throw new Error('log');
    },
  });
  broken.send(quotes(['A']));
  assert.equal(await broken.deliver(), 1);
  assert.equal(broken.queue.length, 0);
});

test('the partial result of a refusal serves the requesters for whom it is fresh enough; the others wait', async () => {
  const world = createWorld();
  const odd = '{"x":"}\\"{","symbol":"B","price":"1.10"}';
  const record = (symbol: string, text: string, ageMs: number) => ({
    symbol,
    bytes: new TextEncoder().encode(text),
    ageMs,
  });
  const records = [record('A', recordOf('A'), 3000), record('B', odd, 20_000)];
  world.upstream = () => ({ code: 'no_fresh_answer', partial: { records, missing: ['C'] } });
  const [a, ab, abc] = [quotes(['A']), quotes(['B', 'A']), quotes(['A', 'B', 'C'])];
  for (const request of [a, ab, abc]) world.send(request);
  await world.deliver();
  assert.equal(world.calls.length, 1);
  assert.ok(only(world, a.request_id).text.endsWith(`"quotes":[${recordOf('A')}]}`));
  assert.ok(only(world, ab.request_id).text.endsWith(`"quotes":[${odd},${recordOf('A')}]}`));
  assert.equal(only(world, ab.request_id).detail.as_of, new Date(world.now - 20_000).toISOString());
  assert.deepEqual(world.repliesTo(abc.request_id), []);
  const fresh = quotes(['A', 'B'], { max_age_seconds: 10, deadline_seconds: 1 });
  world.send(fresh);
  await world.deliver();
  const { quotes: had, missing } = only(world, fresh.request_id).detail;
  assert.equal((had as []).length, 1);
  assert.deepEqual(missing, [{ symbol: 'B', code: 'no_fresh_answer' }]);
});
