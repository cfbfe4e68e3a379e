/** Subscriptions of the market-data stream over HTTP: who may subscribe to what, and what is refused in which words. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { subscribeMarketData, unsubscribeMarketData } from '../../lib/catalogue/index.ts';
import { createClient, direct } from '../../lib/client/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { playStream, subscribePath, subscription } from './stream-scene.ts';
import { codeOf, credentials, type Reply, send, withSimulator } from './support.ts';

const wordsOf = ({ status, json }: Reply) => [status, json];
const refusal = (status: number, error_code: string, message: string) => [status, { error_code, message }];

describe('a subscription', () => {
  test('is answered with an empty object, adds to what there is, and may be repeated', () =>
    playStream(async ({ connect, subscribe, stream }) => {
      await connect();
      assert.deepEqual(wordsOf(await subscribe()), [200, {}]);
      assert.deepEqual(wordsOf(await subscribe()), [200, {}]);
      // A fund as a stock, an integer, a right, a member that is null, and one that no page names.
      const more = { symbols: ['IWM', 'MSFT'], sub_types: ['TICK'], depth: 3, grab: 'true', later: 1 };
      const reply = await subscribe({ ...more, overnight_required: null });
      assert.deepEqual(wordsOf(reply), [200, {}]);
      assert.deepEqual(stream.sessions, { 'session-1': ['AAPL', 'IWM', 'MSFT'] });
    }));

  test('is taken at the older family’s path', () =>
    playStream(async ({ connect, subscribe, stream }) => {
      await connect();
      const reply = await subscribe({}, { target: '/openapi/market-data/streaming/subscribe' });
      assert.equal(reply.status, 200);
      assert.deepEqual(stream.sessions, { 'session-1': ['AAPL'] });
    }));

  test('ends for the symbols and types that are named, or altogether; what is not there may be named', () =>
    playStream(async ({ connect, subscribe, unsubscribe, stream }) => {
      await connect();
      await subscribe({ symbols: ['AAPL', 'MSFT'], sub_types: ['SNAPSHOT', 'TICK'] });
      const ended = { ...subscription, symbols: ['AAPL', 'NVDA'], unsubscribe_all: false };
      assert.deepEqual(wordsOf(await unsubscribe(ended)), [200, {}]);
      assert.deepEqual(stream.sessions, { 'session-1': ['AAPL', 'MSFT'] });
      await unsubscribe({ ...ended, sub_types: ['TICK', 'QUOTE'] });
      assert.deepEqual(stream.sessions, { 'session-1': ['MSFT'] });
      const all = { session_id: 'session-1', unsubscribe_all: true };
      for (const _ of [1, 2]) assert.deepEqual(wordsOf(await unsubscribe(all)), [200, {}]);
      assert.deepEqual(stream.sessions, { 'session-1': [] });
    }));

  test('is made and ended by the typed client', () =>
    playStream(
      async ({ connect, simulator, stream }) => {
        await connect();
        const signer = createSigner(credentials);
        const client = createClient(
          { subscribeMarketData, unsubscribeMarketData },
          direct({ baseUrl: simulator.url, signer }),
        );
        await client.subscribeMarketData({ ...subscription, category: 'US_STOCK', sub_types: ['QUOTE'] });
        assert.deepEqual(stream.sessions, { 'session-1': ['AAPL'] });
        // The status alone says it: a body may be missing.
        simulator.bring(() => ({ kind: 'answer-after', status: 200, body: '' }));
        const all = { session_id: 'session-1', unsubscribe_all: true };
        assert.deepEqual(await client.unsubscribeMarketData(all), {});
        assert.deepEqual(stream.sessions, { 'session-1': [] });
      },
      { clock: Date.now },
    ));
});

describe('refused', () => {
  const cases: readonly (readonly [name: string, change: object, refusal: readonly unknown[]])[] = [
    [
      'a session that is not connected',
      { session_id: 'session-2' },
      refusal(417, 'INVALID_SESSION', 'Mqtt connection not exist for session:session-2'),
    ],
    [
      'types in small letters',
      { sub_types: ['TICK', 'quote', 'snapshot'] },
      refusal(417, 'UNSUPPORTED_SUB_TYPE', 'Subtype not supported:quotesnapshot'),
    ],
    [
      'another category',
      { category: 'US_CRYPTO' },
      refusal(417, 'UNSUPPORTED_CATEGORY', 'Parameter error, category'),
    ],
    [
      'symbols that are not there, and nothing is applied',
      { symbols: ['AAPL', 'NOPE1', 'MSFT', 'NOPE2'] },
      refusal(417, 'INVALID_SYMBOL', 'The symbols does not exist in the category. [NOPE1, NOPE2]'),
    ],
    [
      'a stock as a fund',
      { category: 'US_ETF', symbols: ['IWM', 'AAPL'] },
      refusal(417, 'INVALID_SYMBOL', 'The symbols does not exist in the category. [AAPL]'),
    ],
    [
      'more depth than there is',
      { depth: '51' },
      refusal(417, 'ILLEGAL_PARAMETER', 'depth not more than 50'),
    ],
    ...[
      { session_id: '' },
      { symbols: [] },
      { symbols: ['AAPL', 'AAPL'] },
      { symbols: Array.from({ length: 101 }, (_, at) => `S${at}`) },
      { sub_types: [] },
      { category: undefined },
      { grab: true },
      { depth: '0' },
      { overnight_required: 'true' },
    ].map((change) => {
      const words = refusal(417, 'ILLEGAL_PARAMETER', `Parameter error, ${Object.keys(change)}`);
      return [JSON.stringify(change).slice(0, 40), change, words] as const;
    }),
  ];
  for (const [name, change, words] of cases)
    test(name, () =>
      playStream(async ({ connect, subscribe, stream }) => {
        await connect();
        assert.deepEqual(wordsOf(await subscribe(change)), words);
        assert.deepEqual(stream.sessions, { 'session-1': [] });
      }),
    );

  test('the 101st symbol of a session, in whatever types, and nothing is applied', () =>
    playStream(async ({ connect, subscribe, unsubscribe, simulator, stream }) => {
      await connect();
      const symbols = simulator.symbols('US_STOCK').slice(0, 101);
      const few = symbols.slice(0, 99);
      await subscribe({ symbols: few, sub_types: ['QUOTE', 'SNAPSHOT', 'TICK'] });
      const tooMany = refusal(
        417,
        'TOO_MANY_SYMBOLS_SUBSCRIPTION',
        'Maximum number of subscribe tickers:100',
      );
      assert.deepEqual(wordsOf(await subscribe({ symbols: symbols.slice(99) })), tooMany);
      assert.deepEqual(stream.sessions, { 'session-1': few });
      assert.equal((await subscribe({ symbols: symbols.slice(90, 100) })).status, 200);
      assert.equal((await subscribe({ symbols: symbols.slice(100) })).status, 417);
      await unsubscribe({ ...subscription, symbols: [symbols[99]!] });
      assert.equal((await subscribe({ symbols: symbols.slice(100) })).status, 200);
    }));

  test('an end that says neither what nor all', () =>
    playStream(async ({ connect, unsubscribe }) => {
      await connect();
      const ends = [{}, { unsubscribe_all: false }, { symbols: ['AAPL'], category: 'US_STOCK' }];
      for (const [at, name] of ['symbols', 'symbols', 'sub_types'].entries())
        assert.deepEqual(
          wordsOf(await unsubscribe({ session_id: 'session-1', ...ends[at] })),
          refusal(417, 'ILLEGAL_PARAMETER', `Parameter error, ${name}`),
        );
    }));

  test('the session of another app key, and one whose connection has ended', () =>
    playStream(async ({ connect, subscribe, simulator, stream }) => {
      const other = { appKey: 'other', appSecret: 'secret' };
      simulator.setCredentials([credentials, other]);
      const client = await connect();
      assert.equal(codeOf(await subscribe({}, other)), 'INVALID_SESSION');
      client.close();
      await subscribe();
      while (Object.keys(stream.sessions).length > 0) await subscribe({ session_id: 'any' });
      assert.equal(codeOf(await subscribe()), 'INVALID_SESSION');
    }));

  test('data that the user has not subscribed to, by the category that was asked for', () =>
    playStream(
      async ({ connect, subscribe }) => {
        await connect();
        const funds = { category: 'US_ETF', symbols: ['IWM'] };
        const words = refusal(
          403,
          'MARKET_DATA_NOT_SUBSCRIBED',
          'No market data subscription, product US_ETF',
        );
        assert.deepEqual(wordsOf(await subscribe(funds)), words);
        assert.equal((await subscribe()).status, 200);
      },
      { unsubscribed: ['US_ETF'] },
    ));

  test('level 2 without the right to it', () =>
    playStream(
      async ({ connect, subscribe }) => {
        await connect();
        const words = refusal(417, 'ILLEGAL_PARAMETER', 'depth not more than 1');
        assert.deepEqual(wordsOf(await subscribe({ depth: '2' })), words);
        assert.equal((await subscribe()).status, 200);
      },
      { depthLevels: 1 },
    ));

  test('whatever is wrong, the first of signature, session, type, category, symbol and depth is told', () =>
    playStream(async ({ connect, subscribe }) => {
      const right = { ...subscription, depth: '5' };
      const wrong = { ...right, symbols: ['NOPE1'], category: 'X', sub_types: ['x'], depth: '51' };
      const told = async (body: object, draft = {}) => codeOf(await subscribe(body, draft));
      assert.equal(await told(wrong, { appSecret: 'wrong' }), 'INCORRECT_SIGN');
      assert.equal(await told(wrong, { change: { 'x-signature': undefined } }), 'MISSING_SIGNATURE');
      assert.equal(await told(wrong), 'INVALID_SESSION');
      await connect();
      assert.equal(await told(wrong), 'UNSUPPORTED_SUB_TYPE');
      assert.equal(await told({ ...wrong, sub_types: right.sub_types }), 'UNSUPPORTED_CATEGORY');
      const few = { ...wrong, sub_types: right.sub_types, category: right.category };
      assert.equal(await told(few), 'INVALID_SYMBOL');
      assert.equal(await told({ ...few, symbols: right.symbols }), 'ILLEGAL_PARAMETER');
    }));

  test('without the access token that the upstream wants', () =>
    playStream(
      async ({ connect, subscribe }) => {
        await connect();
        assert.equal(codeOf(await subscribe()), 'INVALID_TOKEN');
        const change = { 'x-access-token': 'the token' };
        assert.equal((await subscribe({}, { change })).status, 200);
      },
      { accessToken: 'the token' },
    ));

  test('the 61st request of an app key in a minute, of each operation; the sandbox’s 31st', async () => {
    for (const [allowed, options] of [
      [60, {}],
      [30, { upstreamLimits: 'published-sandbox' }],
    ] as const)
      await playStream(async (scene) => {
        const other = { appKey: 'other', appSecret: 'secret' };
        scene.simulator.setCredentials([credentials, other]);
        await scene.connect();
        for (let sent = 0; sent < allowed; sent++) assert.equal((await scene.subscribe()).status, 200);
        assert.equal(codeOf(await scene.subscribe()), 'TOO_MANY_REQUESTS');
        assert.equal(codeOf(await scene.subscribe({}, other)), 'INVALID_SESSION');
        const all = { session_id: 'session-1', unsubscribe_all: true };
        assert.equal((await scene.unsubscribe(all)).status, 200);
        assert.equal(scene.simulator.counted('market-data').length, allowed + 2);
        scene.now += 60_000;
        assert.equal((await scene.subscribe()).status, 200);
      }, options);
  });

  test('every session, where the simulator has no stream', () =>
    withSimulator({}, async (simulator) => {
      assert.equal(simulator.marketStream, undefined);
      const body = JSON.stringify(subscription);
      const reply = await send(simulator, { method: 'POST', target: subscribePath, body });
      assert.equal(codeOf(reply), 'INVALID_SESSION');
    }));
});
