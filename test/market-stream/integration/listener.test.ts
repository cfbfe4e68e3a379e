/** The listener of the market stream: through each fault of the upstream and of itself, no value is told younger than it is, and none goes back. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { VirtualTime } from '../../world/virtual-time.ts';
import { followAll, type InstanceOptions, oldest } from '../instances.ts';
import { createListening, Market, ModelBroker, quoteMessage, snapshotMessage } from '../world.ts';

const symbolsOf = (count: number) => Array.from({ length: count }, (_, index) => `S${index}`);

type SceneOptions = { readonly perSecond?: number; readonly count?: number } & Partial<InstanceOptions>;

function createScene({ perSecond = 1, count = 110, ...more }: SceneOptions = {}) {
  const symbols = symbolsOf(count);
  const time = new VirtualTime();
  const market = new Market(time, symbols, perSecond);
  const broker = new ModelBroker(time, market);
  const secret = { appKey: 'key' };
  const listening = createListening(time, broker, { secret });
  const seen = followAll(time, market, { ...listening, symbols, ...more });
  const run = (seconds: number) => time.runUntil(time.now() + 1000 * seconds);
  const told = () => listening.reports.filter(({ kind }) => kind !== 'state').map(({ kind }) => kind);
  return { time, market, broker, secret, listening, seen, run, told };
}

type Scene = ReturnType<typeof createScene>;

test('what the stream carries is fresh without requests, and what it does not carry is fetched', async () => {
  const { time, broker, listening, seen, run } = createScene();
  listening.begin();
  await run(20);
  const from = time.now();
  await run(30);
  assert.equal(broker.connections, 2);
  assert.ok(oldest(seen, from) < 1000, `${oldest(seen, from)} ms`);
  // Each record is fetched whole twice a minute: a hundred at once, by either instance.
  assert.ok(seen.fetches.filter(({ at }) => at >= from).length <= 6);
  assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
  assert.equal(broker.requests.length, 2);
});

/** Half a second, and two silences as they were before: ten symbols that trade once a second are silent for a second at most. */
const hiddenMs = 2500;

/** What goes wrong, and how long answers to pings hide it. */
const faults: Readonly<
  Record<string, readonly [hidesMs: number, (scene: Scene) => unknown, backWithinSeconds?: number]>
> = {
  'all connections are cut': [0, ({ broker }) => broker.dropAll()],
  'the connections go mute': [hiddenMs, ({ broker }) => broker.mute()],
  'nothing comes any more': [0, ({ broker }) => Object.assign(broker.faults, { dead: true })],
  'the upstream forgets the sessions': [hiddenMs, ({ broker }) => broker.forgetAll()],
  'the upstream refuses new connections': [
    0,
    ({ broker }) => {
      broker.faults = { refuse: 105 };
      broker.dropAll();
    },
    // The upstream counts a connection for a minute after its end.
    70,
  ],
  'subscriptions are refused': [
    0,
    ({ broker }) => {
      broker.faults = { code: 'SYSTEM_ERROR' };
      broker.dropAll();
    },
  ],
};

for (const [name, [hidesMs, bring, backWithinSeconds = 30]] of Object.entries(faults))
  test(`${name}: fetches take the symbols back, and the stream carries them again`, async () => {
    const scene = createScene();
    const { time, broker, listening, seen, run } = scene;
    listening.begin();
    await run(20);
    const at = time.now();
    bring(scene);
    await run(12);
    assert.ok(oldest(seen, at) < 5000, `${oldest(seen, at)} ms`);
    broker.faults = {};
    await run(backWithinSeconds);
    const from = time.now();
    await run(5);
    assert.ok(oldest(seen, from) < 1000, `${oldest(seen, from)} ms afterwards`);
    assert.deepEqual(seen.wentBack, []);
    assert.deepEqual(
      seen.tooOld.filter(({ as }) => as < at || as > at + hidesMs),
      [],
    );
  });

test('the next listener takes the connections over: the upstream refuses none, and each symbol is back within seconds', async () => {
  const { time, broker, listening, seen, run } = createScene({ count: 310, perSecond: 0.3 });
  const first = listening.begin(130_000);
  await run(20);
  // Ids that the upstream has forgotten have others in their place, which count for a minute more.
  broker.forgetAll();
  await run(105);
  assert.equal(broker.connections, 4);
  broker.refused = 0;
  const second = listening.begin();
  const at = time.now();
  await run(30);
  assert.deepEqual(await first.done, { result: 'listened' });
  assert.deepEqual([broker.connections, broker.refused], [4, 0]);
  assert.ok(oldest(seen, at) < 5000, `${oldest(seen, at)} ms`);
  assert.ok(oldest(seen, at + 20_000) < 1000, `${oldest(seen, at + 20_000)} ms after it`);
  const toldWrongly = seen.tooOld.filter(({ as }) => as >= at);
  assert.deepEqual([toldWrongly, seen.wentBack], [[], []]);
  second.end();
  await second.done;
});

test('a listener that dies is followed by another, and meanwhile symbols are fetched', async () => {
  const { time, broker, listening, seen, run } = createScene();
  const first = listening.begin();
  await run(20);
  // As a process that is killed: it renews and writes nothing, and its connections end.
  first.end();
  broker.dropAll();
  const at = time.now();
  await run(1);
  const second = listening.begin();
  await run(30);
  assert.ok(oldest(seen, at) < 5000, `${oldest(seen, at)} ms`);
  assert.ok(oldest(seen, at + 25_000) < 1000);
  assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
  second.end();
  assert.deepEqual(await second.done, { result: 'listened' });
});

test('once the secret names another app key, sessions are opened with it within a minute', async () => {
  const { time, broker, secret, listening, seen, run } = createScene();
  const { done, end } = listening.begin();
  await run(20);
  assert.deepEqual(broker.appKeys, ['key', 'key']);
  secret.appKey = 'next-key';
  await run(60);
  assert.deepEqual(broker.appKeys.slice(2), ['next-key', 'next-key']);
  assert.equal(broker.connections, 2);
  const from = time.now();
  await run(5);
  assert.ok(oldest(seen, from) < 1000, `${oldest(seen, from)} ms`);
  assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
  end();
  assert.deepEqual(await done, { result: 'listened' });
});

test('a second listener does not listen beside the first', async () => {
  const { broker, listening, run } = createScene();
  listening.begin();
  await run(10);
  const second = listening.begin();
  await run(20);
  assert.deepEqual(await second.done, { result: 'not_needed' });
  assert.equal(broker.connections, 2);
});

test('a fetch that is behind the stream does not set a value back', async () => {
  const { listening, seen, run } = createScene({ lagMs: 1500 });
  listening.begin();
  await run(40);
  assert.deepEqual(seen.wentBack, []);
});

test('symbols that the upstream names as unknown are left out, and all others are carried', async () => {
  const { time, broker, listening, seen, run } = createScene();
  broker.faults = { unknown: ['S3', 'S77'] };
  listening.begin();
  await run(30);
  const [batch] = await listening.log.read();
  const carried = batch?.carried?.flatMap((one) => one.symbols) ?? [];
  assert.deepEqual(
    [...carried].sort(),
    symbolsOf(110)
      .filter((symbol) => symbol !== 'S3' && symbol !== 'S77')
      .sort(),
  );
  await run(20);
  assert.ok(oldest(seen, time.now() - 15_000) < 3000);
});

test('no message of any kind ends the listener, or shows a value that is none', async () => {
  const { time, market, broker, listening, seen, run, told } = createScene({ perSecond: 0.1 });
  listening.begin();
  await run(20);
  const bytes = (text: string) => new TextEncoder().encode(text);
  const ahead = time.now() + 3_600_000;
  const { price } = market.lastOf('S1');
  const poison: readonly (readonly [string, Uint8Array])[] = [
    ['snapshot', bytes('no protobuf')],
    ['snapshot', new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ['snapshot', snapshotMessage('S1', { at: time.now(), price: 'NaN' }, time.now())],
    ['snapshot', snapshotMessage('S1', { at: ahead, price: '99999' }, time.now())],
    ['snapshot', snapshotMessage('', { at: time.now(), price: '1' }, time.now())],
    ['snapshot', snapshotMessage('S1"},{"', { at: time.now(), price: '1' }, time.now())],
    ['snapshot', new Uint8Array(100_000)],
    ['notice', bytes('{')],
    ['quote', bytes('\x12\x02\x0a\x00')],
    ['', new Uint8Array()],
    ['event-snapshot', bytes('x')],
  ];
  for (const [topic, payload] of poison) broker.push(topic, payload);
  await run(3);
  assert.equal(market.lastOf('S1').price, price, 'the seed has no trade of S1 here');
  const [batch] = await listening.log.read();
  const told1 = batch?.changes.find(({ symbol }) => symbol === 'S1')?.members;
  assert.equal(told1?.price, price);
  // Each is told once for each of the two connections.
  assert.equal(told().filter((kind) => kind === 'invalid').length, 2 * 8);
  await run(20);
  assert.equal(broker.connections, 2);
  assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
});

test('a market that falls silent is asked ever less often whether it is, and its values stay fresh', async () => {
  const { time, market, broker, seen, listening, run } = createScene();
  listening.begin();
  await run(20);
  market.isOpen = false;
  await run(60);
  const [from, before] = [time.now(), broker.requests.length];
  await run(60);
  assert.ok(broker.requests.length - before <= 2, `${broker.requests.length - before} subscriptions`);
  assert.ok(oldest(seen, from) < 5000, `${oldest(seen, from)} ms`);
  assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
});

test('a symbol of which a session falls silent alone is subscribed again, and not told to be fresh for long', async () => {
  const { time, broker, listening, seen, run } = createScene();
  listening.begin();
  await run(20);
  broker.faults = { silent: ['S7'] };
  const at = time.now();
  await run(40);
  assert.ok(broker.requests.some((one) => one.at > at && one.symbols === 1));
  assert.ok(seen.tooOld.every(({ what }) => what.startsWith('S7:')));
  // A fetch comes each half minute, and shows it three seconds later.
  const from = time.now();
  await run(10);
  assert.deepEqual(
    seen.tooOld.filter(({ as }) => as > from),
    [],
  );
  assert.deepEqual(seen.wentBack, []);
});

test('where a subscription brings nothing by itself, a symbol is carried from its next trade on', async () => {
  const { broker, listening, seen, run } = createScene({ perSecond: 0.2 });
  broker.faults = { isBare: true };
  listening.begin();
  await run(40);
  const [batch] = await listening.log.read();
  assert.ok((batch?.carried?.flatMap((one) => one.symbols).length ?? 0) > 90);
  assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
});

test('a symbol of whose book a session tells nothing is carried once its book was fetched since the subscription', async () => {
  let isDown = false;
  const { listening, run } = createScene({ count: 5, isDown: () => isDown });
  const carried = async () =>
    (await listening.log.read())[0]?.carried?.flatMap((one) => one.symbols).length ?? 0;
  listening.begin();
  await run(1);
  isDown = true;
  await run(15);
  assert.equal(await carried(), 0, 'their books may have changed between the fetch and the subscription');
  isDown = false;
  await run(15);
  assert.equal(await carried(), 5);
});

test('a sparse message changes what it has, and nothing else', async () => {
  const { time, broker, listening, run } = createScene({ perSecond: 0.001 });
  listening.begin();
  await run(20);
  broker.push('snapshot', snapshotMessage('S5', { price: '12.34' }, time.now()));
  await run(3);
  const [batch] = await listening.log.read();
  const members = batch?.changes.find(({ symbol }) => symbol === 'S5')?.members;
  assert.equal(members?.price, '12.34');
  assert.equal(members?.volume, '1000');
});

test('a message of a symbol alone says that something changed: until it is told what, the symbol’s age grows', async () => {
  const { time, broker, seen, listening, run } = createScene({ perSecond: 0.5 });
  broker.faults = { emptyEvery: 10 };
  listening.begin();
  await run(20);
  const from = time.now();
  await run(60);
  assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
  // Half of the symbols trade again within 1.4 seconds, and the others are fetched after two.
  assert.ok(oldest(seen, from) < 3500, `${oldest(seen, from)} ms`);
  const young = seen.ages.filter(({ at, ageMs }) => at >= from && ageMs < 1500);
  const all = seen.ages.filter(({ at }) => at >= from);
  assert.ok(young.length / all.length > 0.8, `${young.length} of ${all.length}`);
});

for (const [what, message] of [
  ['its volume alone', { volume: 2000 }],
  ['its price alone', { price: '99.00' }],
  ['an older trade', { at: -700, price: '99.00', volume: 2000 }],
] as const)
  test(`after a message of a symbol alone, ${what} does not make its record young`, async () => {
    const { time, market, broker, seen, listening, run } = createScene();
    listening.begin();
    await run(20);
    broker.faults = { silent: ['S5'] };
    market.trade('S5');
    broker.push('snapshot', snapshotMessage('S5', {}, time.now()));
    await run(0.2);
    const at = 'at' in message ? { at: Math.floor(time.now()) + message.at } : {};
    broker.push('snapshot', snapshotMessage('S5', { ...message, ...at }, time.now()));
    await run(40);
    assert.deepEqual([seen.tooOld, seen.wentBack], [[], []]);
  });

for (const [what, book, isTimed] of [
  ['lacks its bids', { ask: '12.40' }, true],
  ['lacks its asks', { bid: '12.40' }, true],
  ['is empty', {}, true],
  ['does not say of when it is', { ask: '12.40', bid: '12.39' }, false],
] as const)
  test(`a book that ${what} changes nothing that is shown, and its symbol is fetched until a whole one comes`, async () => {
    const { time, market, broker, listening, seen, run } = createScene({ perSecond: 0.1 });
    listening.begin();
    await run(20);
    const told = async () => {
      const batches = await listening.log.read();
      const [whole] = batches;
      const carried = whole?.carried?.flatMap((one) => one.symbols) ?? [];
      const changes = batches.flatMap((one) => one.changes).filter(({ symbol }) => symbol === 'S5');
      const { ask, bid, quote_time } = changes.at(-1)?.members ?? {};
      const isTorn = batches.at(-1)?.torn?.flat().includes('S5') ?? false;
      return { ask, bid, quote_time, isTorn, isCarried: carried.includes('S5'), others: carried.length };
    };
    const quotedAt = Math.floor(time.now());
    const first = { ask: '12.34', bid: '12.33', quote_time: String(quotedAt) };
    broker.push('quote', quoteMessage('S5', first, quotedAt));
    await run(3);
    const { others, ...before } = await told();
    assert.deepEqual(before, { ...first, isTorn: false, isCarried: true });
    broker.push('quote', quoteMessage('S5', book, isTimed ? Math.floor(time.now()) : undefined));
    await run(1);
    assert.deepEqual(
      await told(),
      { ...first, isTorn: true, isCarried: true, others },
      'the next one may be whole',
    );
    const from = time.now();
    market.trade('S5');
    await run(9);
    assert.deepEqual(await told(), { ...first, isTorn: true, isCarried: true, others });
    const fetches = seen.fetches.filter(({ at, symbols }) => at > from && symbols.includes('S5'));
    assert.ok(fetches.length > 1, `${fetches.length} fetches`);
    const wholeAt = Math.floor(time.now());
    broker.push('quote', quoteMessage('S5', { ask: '12.50', bid: '12.49' }, wholeAt));
    await run(3);
    const second = { ask: '12.50', bid: '12.49', quote_time: String(wholeAt) };
    assert.deepEqual(await told(), { ...second, isTorn: false, isCarried: true, others });
  });
