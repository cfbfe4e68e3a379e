/** What the market-data stream pushes: in which form, how often, and in step with what HTTP answers. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { each } from '../support/each.ts';
import { fieldsOf, type Message, textsOf } from './stream-client.ts';
import { playStream, type StreamScene } from './stream-scene.ts';
import { send, testTime } from './support.ts';

// Answers of HTTP are read in many shapes.
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Json = any;

const ask = async ({ simulator, now }: StreamScene, target: string): Promise<Json> => {
  const reply = await send(simulator, { target, now });
  assert.equal(reply.status, 200, reply.text);
  return reply.json;
};

const snapshotOf = async (scene: StreamScene) =>
  (
    await ask(
      scene,
      '/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK&extend_hour_required=true&overnight_required=true',
    )
  )[0];

const isOf = (topic: string) => (message: Message) => message.topic === topic;

const topicsOf = (messages: readonly Message[]) => each(messages, 'topic');

describe('a snapshot', () => {
  test('is whole at first, with what HTTP answers at that moment; overnight figures on request', () =>
    playStream(async (scene) => {
      const client = await scene.connect();
      await scene.subscribe({ overnight_required: true });
      scene.stream.push();
      const [message, ...more] = await client.told();
      assert.deepEqual(more, []);
      const { topic, qos, retain } = message!;
      assert.deepEqual({ topic, qos, retain }, { topic: 'snapshot', qos: 0, retain: false });
      const one = await snapshotOf(scene);
      assert.deepEqual(textsOf(message!), {
        2: String(one.last_trade_time),
        3: one.price,
        4: one.open,
        5: one.high,
        6: one.low,
        7: one.pre_close,
        8: one.volume,
        9: one.change,
        10: one.change_ratio,
        11: String(one.extend_hour_last_trade_time),
        12: one.extend_hour_last_price,
        13: one.extend_hour_high,
        14: one.extend_hour_low,
        15: one.extend_hour_volume,
        16: one.extend_hour_change,
        17: one.extend_hour_change_ratio,
        18: String(one.ovn_last_trade_time),
        19: one.ovn_price,
        20: one.ovn_high,
        21: one.ovn_low,
        22: one.ovn_volume,
        23: one.ovn_change,
        24: one.ovn_change_ratio,
        101: 'AAPL',
        102: one.instrument_id,
        103: String(testTime),
        104: 'RTH',
      });
      await scene.subscribe();
      scene.stream.push();
      const fields = Object.keys(textsOf((await client.told())[0]!));
      assert.ok(fields.includes('17') && !fields.includes('18'), `${fields}`);
    }));

  test('has later what changed, or the symbol alone; merged, it is what HTTP answers', () =>
    playStream(async (scene) => {
      const client = await scene.connect();
      await scene.subscribe();
      let known: Record<number, string> = {};
      const sizes: number[] = [];
      for (let trade = 0; trade < 40; trade++) {
        scene.trade();
        for (const message of (await client.told()).filter(isOf('snapshot'))) {
          const texts = textsOf(message);
          sizes.push(Object.keys(texts).length);
          if (sizes.length % 10 === 0) {
            assert.deepEqual(texts, { 101: 'AAPL' });
            continue;
          }
          assert.equal(texts[103], String(scene.now));
          // What did not change is not told.
          for (const [field, text] of Object.entries(texts))
            if (Number(field) < 100) assert.notEqual(text, known[Number(field)], field);
          known = { ...known, ...texts };
          const { price, volume, last_trade_time, high, change } = await snapshotOf(scene);
          assert.deepEqual(
            [known[2], known[3], known[5], known[8], known[9]],
            [String(last_trade_time), price, high, volume, change],
          );
        }
      }
      assert.equal(sizes.length, 40);
      assert.ok(sizes.slice(1).every((size) => size < sizes[0]!));
    }));

  test('comes again as a whole after a repeated subscription', () =>
    playStream(async ({ connect, subscribe, trade, stream }) => {
      const client = await connect();
      await subscribe();
      trade();
      const [whole] = await client.told();
      await subscribe();
      stream.push();
      assert.deepEqual((await client.told()).map(textsOf), [textsOf(whole!)]);
    }));
});

describe('a quote', () => {
  test('has the book that HTTP answers, ten levels or as many as were asked for, best first', () =>
    playStream(async (scene) => {
      const client = await scene.connect();
      for (const [change, depth] of [
        [{}, 10],
        [{ depth: '50' }, 50],
        [{ depth: 1 }, 1],
      ] as const) {
        await scene.subscribe({ sub_types: ['QUOTE'], ...change });
        scene.stream.push();
        const [message] = await client.told();
        assert.equal(message?.topic, 'quote');
        const fields = fieldsOf(message!.payload);
        const query = `symbol=AAPL&category=US_STOCK&depth=${depth}`;
        const { asks, bids } = await ask(scene, `/openapi/market-data/stock/quotes?${query}`);
        assert.deepEqual(fields.get(2)?.map(levelOf), asks);
        assert.deepEqual(fields.get(3)?.map(levelOf), bids);
        assert.equal(asks.length, depth);
        assert.equal(textsOf(message!)[101], 'AAPL');
      }
    }));

  test('lacks a side at times', () =>
    playStream(async ({ connect, subscribe, trade }) => {
      const client = await connect();
      await subscribe({ sub_types: ['QUOTE'] });
      for (let at = 0; at < 20; at++) trade();
      const quotes = (await client.told()).filter(isOf('quote'));
      const sides = quotes.map(({ payload }) => [...fieldsOf(payload).keys()].join());
      assert.deepEqual(new Set(sides), new Set(['1,2,3', '1,2']));
    }));
});

const levelOf = (bytes: Buffer) => {
  const fields = fieldsOf(bytes);
  const text = (field: number, of = fields) => of.get(field)?.map(String).join();
  const order = fields.get(3)?.map((one) => {
    const inner = fieldsOf(one);
    return { mpid: text(1, inner), size: text(2, inner) };
  });
  return { price: text(1), size: text(2), order };
};

describe('a tick', () => {
  const lastTick = async (scene: StreamScene) =>
    (await ask(scene, '/openapi/market-data/stock/tick?symbol=AAPL&category=US_STOCK&count=1')).result[0];

  test('has the clock of New York, and milliseconds in a field that no page names', () =>
    playStream(async (scene) => {
      const client = await scene.connect();
      await scene.subscribe({ sub_types: ['TICK'] });
      scene.stream.push();
      const { time, price, volume, side } = await lastTick(scene);
      const [message] = await client.told();
      const { 101: symbol, 2: clock, ...texts } = textsOf(message!);
      assert.deepEqual([message?.topic, symbol], ['tick', 'AAPL']);
      assert.deepEqual([texts[3], texts[4], texts[5], texts[6]], [price, volume, side, time]);
      // 09:30 UTC in November is 04:30 there.
      const seconds = Math.floor((Number(time) - Date.UTC(2026, 10, 17, 9, 29)) / 1000);
      assert.equal(clock, seconds < 60 ? `04:29:${String(seconds).padStart(2, '0')}` : '04:30:00');
    }));

  test('has milliseconds alone where they are asked for', () =>
    playStream(
      async (scene) => {
        const client = await scene.connect();
        await scene.subscribe({ sub_types: ['TICK'] });
        scene.stream.push();
        const { 2: time, 6: more } = textsOf((await client.told())[0]!);
        assert.deepEqual([time, more], [(await lastTick(scene)).time, undefined]);
      },
      {},
      { tickTime: 'milliseconds' },
    ));
});

describe('what is pushed when', () => {
  test('each type by itself, to each session what it is subscribed to, and nothing without a trade', () =>
    playStream(async ({ connect, subscribe, unsubscribe, trade, stream }) => {
      const one = await connect();
      const other = await connect({ sessionId: 'session-2' });
      await subscribe({ sub_types: ['QUOTE', 'SNAPSHOT', 'TICK'] });
      await subscribe({ session_id: 'session-2', symbols: ['MSFT', 'IWM'] });
      trade();
      assert.deepEqual(topicsOf(await one.told()).sort(), ['quote', 'snapshot', 'tick']);
      assert.deepEqual((await other.told()).map((message) => textsOf(message)[101]).sort(), ['IWM', 'MSFT']);
      stream.push();
      assert.deepEqual(await one.told(), []);
      await unsubscribe({ session_id: 'session-1', unsubscribe_all: true });
      trade();
      assert.deepEqual(await one.told(), []);
      assert.equal((await other.told()).length, 2);
      assert.deepEqual(stream.sent, { snapshot: 5, quote: 1, tick: 1 });
    }));

  test('three messages of a symbol and type in any second, and the newest at the next turn', () =>
    playStream(async (scene) => {
      const client = await scene.connect();
      const symbols = scene.simulator.symbols('US_STOCK').slice(0, 40);
      await scene.subscribe({ symbols, sub_types: ['SNAPSHOT', 'QUOTE'] });
      const sentAt = new Map<string, number[]>();
      const volumes = new Map<string, string>();
      for (let at = 0; at < 60; at++) {
        scene.trade(50);
        for (const message of await client.told()) {
          const texts = textsOf(message);
          const feed = `${message.topic} ${texts[101]}`;
          sentAt.set(feed, [...(sentAt.get(feed) ?? []), scene.now]);
          if (message.topic === 'snapshot' && texts[8]) volumes.set(texts[101]!, texts[8]);
        }
      }
      const inSecond = [...sentAt.values()].flatMap((times) =>
        times.map((time) => times.filter((other) => other > time - 1000 && other <= time).length),
      );
      // Some of forty symbols trade more often than that.
      assert.equal(Math.max(...inSecond), 3);
      scene.trade(3100);
      for (const message of await client.told()) {
        const { 101: symbol, 8: volume } = textsOf(message);
        if (message.topic === 'snapshot' && volume)
          assert.ok(Number(volume) >= Number(volumes.get(symbol!)), symbol);
      }
    }));

  test('a heartbeat and a notice every 30 s of the clock, of sessions without subscription too', () =>
    playStream(async ({ connect, trade }) => {
      const client = await connect({ keepalive: 0 });
      trade(29_999);
      assert.deepEqual(await client.told(), []);
      trade(1);
      const [echo, notice, ...more] = await client.told();
      assert.deepEqual([echo?.topic, echo?.payload.length, notice?.topic, more], ['echo', 0, 'notice', []]);
      assert.deepEqual(JSON.parse(String(notice?.payload)), { type: 'status', rtt: 100, drop: 0, sent: 0 });
      trade(29_999);
      assert.deepEqual(await client.told(), []);
      trade(1);
      assert.deepEqual(topicsOf(await client.told()), ['echo', 'notice']);
    }));

  test('by itself, where the interval is not turned off', () =>
    playStream(
      async ({ connect, subscribe }) => {
        const client = await connect();
        await subscribe();
        while (client.messages.length === 0) await client.told();
        assert.equal(client.messages[0]?.topic, 'snapshot');
      },
      {},
      { pushMs: 5 },
    ));
});
