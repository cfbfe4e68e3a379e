/** The secret comes to name another app key: data fetched for the old account is returned to no other. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  createMemoryCacheStores,
  type GatewayOptions,
  type Send,
  type SnapshotStore,
} from '../../lib/gateway/index.ts';
import { ask, gatewayOf, type Reply, secretText, snapshotPath } from '../support/core.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const oldKey = 'old-key-of-the-account';
const newKey = 'new-key-of-the-account';
/** No answer passes with a key in it. */
const ageOf = (key: string) => key.split('-')[0];
const keyOfAge = (age: string) => `${age}-key-of-the-account`;
const snapshot = (symbol: string) => `${snapshotPath}?symbols=${symbol}&category=US_STOCK`;
const bars = (symbol: string) => `/market-data/stocks/bars/get?symbol=${symbol}&category=US_STOCK&timespan=D`;
const list = '/trading/accounts/list';
const reads = [snapshot('AAPL'), snapshot('MSFT'), bars('AAPL'), bars('MSFT'), list];

const bytes = (text: string) => new TextEncoder().encode(text);

/** An upstream whose records say with which key they were fetched, and what every account's store was given. */
function setUp(options: Partial<GatewayOptions> = {}) {
  const state = {
    current: oldKey,
    previous: undefined as string | undefined,
    good: [oldKey, newKey],
    sent: [] as string[],
    /** Awaited before an answer. */
    held: Promise.resolve(),
  };
  const send: Send = async ({ url, headers }, { letGo }) => {
    if (letGo && !(await letGo(() => {}))) return { kind: 'not_sent' };
    const by = headers['x-app-key'] ?? '';
    state.sent.push(by);
    const isGood = state.good.includes(by);
    await state.held;
    const { searchParams } = new URL(url);
    const symbols = searchParams.get('symbols') ?? searchParams.get('symbol') ?? '';
    const records = symbols.split(',').map((symbol) => ({ symbol, by: ageOf(by) }));
    const body = isGood ? records : { error_code: 'INCORRECT_SIGN', message: 'no' };
    return {
      kind: 'answer',
      status: isGood ? 200 : 401,
      header: () => undefined,
      body: bytes(JSON.stringify(body)),
    };
  };
  const text = (appKey: string | undefined) =>
    appKey && secretText({ appKey, appSecret: `secret-of-${appKey}` });
  const memory = createMemoryCacheStores();
  const written = new Map<string, string[]>();
  const quotes = (account: string): SnapshotStore => {
    const store = memory.snapshots(account);
    const own = written.get(account) ?? [];
    written.set(account, own);
    return {
      ...store,
      write(entry) {
        const { outcome } = entry;
        if (outcome.kind === 'answer')
          for (const record of outcome.records.values()) own.push(new TextDecoder().decode(record));
        return store.write(entry);
      },
    };
  };
  const newGateway = () =>
    gatewayOf({
      secrets: { read: async (version) => text(version === 'previous' ? state.previous : state.current) },
      send,
      cache: { ...memory, snapshots: quotes },
      ...options,
    });
  /** What each account's store holds was fetched by one key. */
  const assertApart = () => {
    for (const [account, records] of written) {
      const keys = new Set(records.map((record) => (JSON.parse(record) as { by: string }).by));
      assert.ok(keys.size <= 1, `${account} holds what was fetched by ${[...keys].join(' and ')}`);
      assert.ok(!account.includes(oldKey) && !account.includes(newKey), account);
    }
  };
  return { state, newGateway, assertApart, written };
}

const keyOf = ({ status, text }: Reply): string => {
  assert.equal(status, 200, text);
  return keyOfAge((JSON.parse(text) as [{ by: string }])[0].by);
};

const keysOf = async (replies: readonly Promise<Reply>[]) =>
  [...new Set((await Promise.all(replies)).map(keyOf))].sort();

describe('when the secret names another app key', { concurrent: true }, () => {
  test('its answers hold nothing that the old one fetched', async () => {
    const { state, newGateway, assertApart, written } = setUp({ secretTimeToLiveMs: 0 });
    const gateways = [newGateway(), newGateway()];
    const all = () => keysOf(gateways.flatMap((one) => reads.map((read) => ask(one, read))));
    assert.deepEqual(await all(), [oldKey]);
    state.current = newKey;
    assert.deepEqual(await all(), [newKey]);
    // What was fetched for the old one is there still, should the secret name it again.
    const sent = state.sent.length;
    state.current = oldKey;
    assert.equal(keyOf(await ask(newGateway(), bars('AAPL'))), oldKey);
    assert.equal(state.sent.length, sent);
    assert.equal(written.size, 2);
    assertApart();
  });

  test('and the old one is refused, every request is answered by the new one', async () => {
    const { state, newGateway, assertApart } = setUp();
    const gateways = [newGateway(), newGateway()];
    assert.deepEqual(await keysOf(gateways.map((one) => ask(one, snapshot('AAPL')))), [oldKey]);
    Object.assign(state, { current: newKey, good: [newKey] });
    const anew = [...reads.slice(1), snapshot('GOOG'), snapshot('TSLA,NVDA')];
    const replies = gateways.flatMap((one) => [...anew, ...anew].map((read) => ask(one, read)));
    assert.deepEqual(await keysOf(replies), [newKey]);
    assertApart();
    assert.deepEqual(await keysOf(gateways.map((one) => ask(one, snapshot('AAPL')))), [newKey]);
  });

  test('what is under way ends with the old one, and is in no answer of the new one', async () => {
    const { state, newGateway, assertApart } = setUp({ secretTimeToLiveMs: 0 });
    const gateway = newGateway();
    let release = () => {};
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    const early = reads.map((read) => ask(gateway, read));
    while (state.sent.length < 3) await new Promise(setImmediate);
    state.current = newKey;
    const late = reads.map((read) => ask(gateway, read));
    while (!state.sent.includes(newKey)) await new Promise(setImmediate);
    release();
    assert.deepEqual(await keysOf(late), [newKey]);
    const kinds = await keysOf(early);
    assert.ok(kinds.includes(oldKey), kinds.join());
    assertApart();
    assert.deepEqual(await keysOf(reads.map((read) => ask(gateway, read))), [newKey]);
  });

  test('which is refused, reads go on with the previous one, apart from it', async () => {
    const { state, newGateway, assertApart } = setUp();
    Object.assign(state, { current: newKey, previous: oldKey, good: [oldKey] });
    const gateways = [newGateway(), newGateway()];
    const all = () => keysOf(gateways.flatMap((one) => reads.map((read) => ask(one, read))));
    assert.deepEqual(await all(), [oldKey]);
    assertApart();
    Object.assign(state, { good: [oldKey, newKey] });
    assert.deepEqual(await keysOf(reads.map((read) => ask(newGateway(), read))), [newKey]);
    assertApart();
  });

  test('another secret of the same key is the same account', async () => {
    let rotations = 0;
    const read = async () => secretText({ appKey: oldKey, appSecret: `secret-${++rotations}` });
    const { newGateway, written } = setUp({ secretTimeToLiveMs: 0, secrets: { read } });
    const gateway = newGateway();
    await ask(gateway, snapshot('AAPL'));
    await ask(gateway, snapshot('AAPL'));
    assert.ok(rotations > 1);
    assert.equal(written.size, 1);
  });
});

describe('two app keys on the same stores', { concurrent: true }, () => {
  const account = 'account_id=one-account-of-both';
  const all = [
    ...reads,
    `/trading/assets/positions/list?${account}`,
    `/trading/orders/open-orders/list?${account}`,
    `/trading/orders/get?${account}&client_order_id=order-of-both`,
    '/market-data/watchlists/list',
  ];

  /** Instances of both, what each did with which key of the response store, and how often the upstream was asked. */
  function setUpBoth() {
    const memory = createMemoryCacheStores();
    const used = { [oldKey]: new Set<string>(), [newKey]: new Set<string>() };
    // From the beginning of a minute, because quotas are counted by the minute.
    let ahead = -(Date.now() % 60_000);
    const gatewayOf = (appKey: typeof oldKey | typeof newKey) => {
      const { responses } = memory;
      const noted =
        <A extends readonly unknown[], T>(work: (key: string, ...rest: A) => T) =>
        (key: string, ...rest: A): T => {
          used[appKey].add(key);
          return work(key, ...rest);
        };
      const { newGateway, state } = setUp({
        clock: () => Date.now() + ahead,
        secrets: { read: async () => secretText({ appKey, appSecret: `secret-of-${appKey}` }) },
        cache: {
          ...memory,
          responses: {
            read: noted(responses.read),
            lease: noted(responses.lease),
            release: noted(responses.release),
            write: noted(responses.write),
            countUse: noted(responses.countUse),
          },
        },
      });
      return { gateway: newGateway(), state };
    };
    const skip = (ms: number) => {
      ahead += ms;
    };
    return { old: gatewayOf(oldKey), other: gatewayOf(newKey), used, skip };
  }

  test('never see each other’s answers, and name nothing in the store alike', async () => {
    const { old, other, used } = setUpBoth();
    for (let round = 0; round < 2; round++) {
      const replies = all.flatMap((read) => [ask(old.gateway, read), ask(other.gateway, read)]);
      assert.deepEqual(await keysOf(replies.filter((_, at) => at % 2 === 0)), [oldKey]);
      assert.deepEqual(await keysOf(replies.filter((_, at) => at % 2 === 1)), [newKey]);
    }
    assert.ok(used[oldKey].size > 10 && used[newKey].size > 10);
    for (const key of used[oldKey]) assert.ok(!used[newKey].has(key), key);
  });

  test('have quotas of their own for one caller', async () => {
    const { old, other, skip } = setUpBoth();
    const anew = async ({ gateway, state }: typeof old) => {
      const before = state.sent.length;
      for (let times = 0; times < 25; times++) {
        await ask(gateway, bars('AAPL'), { headers: { 'cache-control': 'no-cache' } });
        skip(1100);
      }
      return state.sent.length - before;
    };
    // One, and twenty anew within the minute.
    assert.equal(await anew(old), 21);
    assert.equal(await anew(other), 21);
  });
});
