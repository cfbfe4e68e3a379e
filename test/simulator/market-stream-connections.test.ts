/** Who may connect to the market-data stream, how often, and how a connection ends. */

import assert from 'node:assert/strict';
import { connect as connectTls } from 'node:tls';
import { describe, test } from 'vitest';
import { createWebSocketStream, WebSocket } from 'ws';
import { selfSigned } from '../deployed/self-signed.ts';
import { each } from '../support/each.ts';
import { until } from '../support/until.ts';
import { connectPlain, disconnect, type Introduction, ping, speak, subscribeTo } from './stream-client.ts';
import { playStream } from './stream-scene.ts';

describe('a client is answered', () => {
  const cases: readonly (readonly [name: string, given: Introduction, code: number])[] = [
    ['0, as the vendor’s clients introduce themselves', {}, 0],
    ['0, with any text as its session id', { sessionId: 'ß – any text' }, 0],
    ['1 at level 3', { level: 3 }, 1],
    ['1 at level 5', { level: 5 }, 1],
    ['1 at level 6', { level: 6 }, 1],
    ['1 in another protocol', { protocol: 'MQIsdp', level: 3 }, 1],
    ['2 without a session id', { sessionId: '' }, 2],
    ['3 without an app key', { flags: 0x02 }, 3],
    ['3 with an empty app key', { appKey: '' }, 3],
    ['104 with an app key that is not known', { appKey: 'another' }, 104],
    ['103 without a password', { flags: 0x82 }, 103],
    ['100 with a last will', { flags: 0xc6 }, 100],
    ['100 where its session is to outlive it', { flags: 0xc0 }, 100],
  ];
  for (const [name, given, code] of cases)
    test(name, () =>
      playStream(async ({ connect, stream }) => {
        const client = await connect(given);
        assert.equal(client.code, code);
        if (code === 0) assert.equal((await client.told()).length, 0);
        else await client.over();
        const known = code === 1 && given.level === 6 ? [] : [code];
        assert.deepEqual(each(stream.connections, 'code'), known);
        assert.equal(Object.keys(stream.sessions).length, code === 0 ? 1 : 0);
      }),
    );

  test('102 when it introduces itself a second time, and that is its end', () =>
    playStream(async ({ connect, stream }) => {
      const client = await connect();
      client.introduce({});
      await client.over();
      assert.equal(client.code, 102);
      await until(() => Object.keys(stream.sessions).length === 0);
    }));

  test('not at all when it begins with something else', () =>
    playStream(async ({ simulator, stream }) => {
      for (const bytes of [ping, subscribeTo('quote'), [0x16, 3, 1], [0x10, 0xff, 0xff, 0xff, 0xff]]) {
        const client = speak(connectPlain(simulator));
        client.write(...bytes);
        // What is neither MQTT nor TLS is HTTP, and no request.
        await client.over();
        assert.equal(client.code, undefined);
      }
      assert.deepEqual(stream.connections, []);
    }));
});

describe('an open connection', () => {
  test('answers pings; SUBSCRIBE and UNSUBSCRIBE of MQTT are acknowledged and change nothing', () =>
    playStream(async ({ connect, subscribe, trade, stream }) => {
      const client = await connect();
      client.write(...subscribeTo('quote'));
      client.write(0xa2, 9, 0, 2, 0, 5, ...Buffer.from('quote'));
      assert.deepEqual(await client.told(), []);
      assert.deepEqual(client.packets, [0x90, 0xb0, 0xd0]);
      assert.equal((await subscribe()).status, 200);
      trade();
      assert.deepEqual(each(await client.told(), 'topic'), ['snapshot']);
      assert.deepEqual(stream.sessions, { 'session-1': ['AAPL'] });
    }));

  test('ends when its client takes its leave, or publishes', () =>
    playStream(async ({ connect, stream }) => {
      for (const bytes of [disconnect, [0x30, 5, 0, 1, 65, 104, 105]]) {
        const client = await connect();
        client.write(...bytes);
        await client.over();
        await until(() => Object.keys(stream.sessions).length === 0);
      }
    }));

  test('ends when its client says nothing for one and a half times as long as it promised', () =>
    playStream(async (scene) => {
      const client = await scene.connect({ keepalive: 20 });
      const patient = await scene.connect({ keepalive: 0, sessionId: 'session-2' });
      scene.trade(30_000);
      await client.told();
      scene.trade(30_000);
      await client.told();
      assert.ok(!client.isOver);
      scene.trade(30_001);
      await client.over();
      await patient.told();
      assert.deepEqual(Object.keys(scene.stream.sessions), ['session-2']);
    }));

  test('another one with its session id takes its place, and starts without subscriptions', () =>
    playStream(async ({ connect, subscribe, trade, stream }) => {
      const older = await connect();
      await subscribe();
      const newer = await connect();
      await older.over();
      trade();
      assert.deepEqual(await newer.told(), []);
      assert.deepEqual(stream.sessions, { 'session-1': [] });
      assert.deepEqual(
        stream.connections.map(({ endedAt }) => endedAt !== undefined),
        [true, false],
      );
    }));
});

describe('the connections of an app key', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];

  test('are five; a closed one counts for a minute, one that another took over does not', () =>
    playStream(async (scene) => {
      for (const sessionId of ids) assert.equal((await scene.connect({ sessionId })).code, 0);
      assert.equal((await scene.connect({ sessionId: 'f' })).code, 105);
      // In the place of one of them.
      const last = await scene.connect({ sessionId: 'e' });
      assert.equal(last.code, 0);
      last.close();
      await until(() => Object.keys(scene.stream.sessions).length === 4);
      assert.equal((await scene.connect({ sessionId: 'e' })).code, 105);
      scene.now += 59_999;
      assert.equal((await scene.connect({ sessionId: 'e' })).code, 105);
      scene.now += 1;
      assert.equal((await scene.connect({ sessionId: 'e' })).code, 0);
    }));

  test('are counted for each key', () =>
    playStream(async ({ simulator, connect }) => {
      const [one, other] = ['one', 'other'].map((appKey) => ({ appKey, appSecret: 'secret' }));
      simulator.setCredentials([one!, other!]);
      for (const sessionId of ids) await connect({ sessionId, appKey: 'one' });
      assert.equal((await connect({ sessionId: 'f', appKey: 'one' })).code, 105);
      assert.equal((await connect({ sessionId: 'f', appKey: 'other' })).code, 0);
    }));
});

describe('ways in', () => {
  const tls = selfSigned();
  const webSocket = (url: string, protocols: string[]) =>
    createWebSocketStream(new WebSocket(url, protocols, { rejectUnauthorized: false }));
  const ways = {
    mqtts: (port: number) => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }),
    ws: (port: number) => webSocket(`ws://127.0.0.1:${port}/mqtt`, ['mqtt']),
    wss: (port: number) => webSocket(`wss://127.0.0.1:${port}/mqtt`, []),
  };
  for (const [transport, open] of Object.entries(ways))
    test(transport, () =>
      playStream(
        async ({ stream, subscribe, trade }) => {
          const client = speak(open(stream.port), {});
          assert.equal(await client.answered(), 0);
          assert.equal(stream.connections[0]?.transport, transport);
          await subscribe();
          trade();
          assert.deepEqual(each(await client.told(), 'topic'), ['snapshot']);
          client.close();
          await until(() => Object.keys(stream.sessions).length === 0);
        },
        {},
        { tls },
      ),
    );

  test('a WebSocket is let in at its path alone, with the sub-protocol where it was offered', () =>
    playStream(async ({ stream }) => {
      const answerTo = (path: string, protocols: string[]) =>
        new Promise((resolve) => {
          const socket = new WebSocket(`ws://127.0.0.1:${stream.port}${path}`, protocols);
          socket.on('error', ({ message }) => resolve(message));
          socket.on('open', () => {
            resolve(socket.protocol);
            socket.terminate();
          });
        });
      assert.equal(await answerTo('/mqtt', ['mqtt']), 'mqtt');
      assert.equal(await answerTo('/mqtt?a=1', []), '');
      assert.equal(await answerTo('/', ['mqtt']), 'Unexpected server response: 404');
    }));
});
