/** Request ids belong to their requester, and what one requester may read reaches no other. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { requesters } from '../../lib/events/index.ts';
import { lookUpDirectly } from '../../lib/lookups/index.ts';
import { createWorld, quotes, recordOf, type World } from './world.ts';

const onBus = (source: string, detail: object, type = 'QuoteLookupRequested') => ({
  'detail-type': type,
  source,
  detail,
});

const requesterOf = ({ detail }: { readonly detail: Readonly<Record<string, unknown>> }) => detail.requester;

/** As a function does with one message of its own. */
async function deliverDirect(world: World, body: object): Promise<void> {
  const message = { id: 'm', body: JSON.stringify(body), sentAt: world.now, waits: 0, isDirect: true };
  assert.deepEqual(await world.lookups.batch([message], world.now + 25_000), []);
}

test('two requesters with the same id have two requests, in one batch and later', async () => {
  const world = createWorld();
  const mine = quotes(['A']);
  const yours = quotes(['B'], { request_id: mine.request_id });
  world.send(onBus('reports', mine));
  world.send(onBus('alerts', yours));
  await world.deliver();
  world.send(mine);
  await world.deliver();
  assert.deepEqual(world.dead, []);
  const replies = world.repliesTo(mine.request_id);
  assert.deepEqual(
    replies.map((reply) => [requesterOf(reply), (reply.detail.quotes as { symbol: string }[])[0]?.symbol]),
    [
      ['reports', 'A'],
      ['alerts', 'B'],
      [requesters.queue, 'A'],
    ],
  );
  world.send(onBus('alerts', quotes(['C'], { request_id: mine.request_id })));
  await world.deliver();
  assert.match(world.dead.map(({ reason }) => reason).join(), /^id_conflict: [^,]*$/);
});

test('no two requests of different requesters have one key, whatever their sources are', async () => {
  const source = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', ' ', '.', '/', '&') });
  const id = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', '.', '/') });
  const request = fc.record({ source, id: id.map((text) => `a${text}`) });
  await fc.assert(
    fc.asyncProperty(request, request, async (one, other) => {
      fc.pre(one.source !== other.source || one.id !== other.id);
      const world = createWorld();
      for (const [symbol, { source: from, id: request_id }] of [
        ['A', one],
        ['B', other],
      ] as const)
        world.send(onBus(from, quotes([symbol], { request_id })));
      await world.deliver();
      assert.deepEqual(world.dead, []);
      assert.equal(world.published.length, 2);
    }),
    { numRuns: 300 },
  );
});

test('the gateway is told who asks, and one requester’s answer never serves another', async () => {
  const world = createWorld();
  const allowed = 'reports';
  world.upstream = ({ evidence }) =>
    evidence?.eventSource === allowed ? '[{"n":1.10}]' : { code: 'account_not_granted' };
  const read = (request_id: string) => ({
    request_id,
    operation: 'listOpenOrders',
    query: { account_id: 'ACCOUNT-7713' },
  });
  const sources = [allowed, 'alerts', 'with a space'];
  for (const source of sources) world.send(onBus(source, read('same'), 'ReadRequested'));
  world.send(read('same'));
  await world.deliver();
  assert.deepEqual(
    world.repliesTo('same').map((reply) => [requesterOf(reply), reply.type, reply.detail.code]),
    [
      [allowed, 'ReadCompleted', undefined],
      ...['alerts', 'with a space', requesters.queue].map((name) => [
        name,
        'ReadFailed',
        'account_not_granted',
      ]),
    ],
  );
  assert.deepEqual(
    world.calls.map(({ evidence }) => evidence?.eventSource),
    [...sources, requesters.queue],
  );
});

test('what was sent directly has no source, whatever its envelope says', async () => {
  const world = createWorld();
  const request = quotes(['A']);
  await deliverDirect(world, onBus('reports', request));
  assert.equal(world.repliesTo(request.request_id)[0]?.detail.requester, requesters.queue);
  assert.equal(world.calls[0]?.evidence?.eventSource, requesters.queue);
  const { detail } = await lookUpDirectly(world.options, onBus('reports', request), world.now + 25_000);
  assert.equal(JSON.parse(detail).requester, requesters.function);
  assert.equal(world.calls[1]?.evidence?.eventSource, requesters.function);
});

test('a source that is reserved is no request, and costs the id of nobody', async () => {
  const world = createWorld();
  const request = quotes(['A']);
  for (const source of ['countersign', requesters.queue, requesters.function, 'x'.repeat(257), '\ud800'])
    world.send(onBus(source, { ...request, symbols: ['B'] }));
  await world.deliver();
  assert.equal(world.dead.length, 5);
  assert.deepEqual(world.published, []);
  world.send(request);
  await world.deliver();
  assert.equal(world.repliesTo(request.request_id)[0]?.text.includes(recordOf('A')), true);
});

test('replies about accounts are marked for the store, failures and refusals too, others are not', async () => {
  const marks: [string, boolean][] = [];
  const { store } = createWorld().options;
  const world = createWorld({
    store: {
      ...store,
      saveReply(id, owner, reply) {
        marks.push([id, reply.isAccountData ?? false]);
        return store.saveReply(id, owner, reply);
      },
    },
  });
  const read = (request_id: string, operation: string, query: object) =>
    world.send({ request_id, operation, query });
  world.upstream = (request) =>
    request.query.some(([, value]) => value === 'NONE') ? { code: 'account_not_granted' } : '[]';
  read('orders', 'listOpenOrders', { account_id: 'ACCOUNT-7713' });
  read('refused', 'listOpenOrders', { account_id: 'NONE' });
  read('wrong', 'listOpenOrders', { accound_id: 'ACCOUNT-7713' });
  read('quotes', 'getStockSnapshots', { symbols: 'A', category: 'US_STOCK' });
  await world.deliver();
  assert.deepEqual(Object.fromEntries(marks), { orders: true, refused: true, wrong: true, quotes: false });
});

test('with names the store sees no hash of a request for account data that confirms a guess', async () => {
  const hashes = new Map<string, string>();
  const { store } = createWorld().options;
  const named: string[] = [];
  const world = createWorld({
    store: {
      ...store,
      claim(call) {
        hashes.set(call.id, call.hash);
        return store.claim(call);
      },
    },
    names: {
      async nameOf(...texts) {
        named.push(texts.join());
        return 'name';
      },
    },
  });
  world.upstream = () => '[]';
  world.send({ request_id: 'orders', operation: 'listOpenOrders', query: { account_id: 'ACCOUNT-7713' } });
  world.send(quotes(['A'], { request_id: 'quotes' }));
  await world.deliver();
  assert.equal(hashes.get('orders'), 'name');
  assert.match(hashes.get('quotes') ?? '', /^[\da-f]{64}$/);
  assert.equal(named.length, 1);
});
