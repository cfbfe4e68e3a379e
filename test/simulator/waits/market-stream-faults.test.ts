/** What can be made to go wrong with the market-data stream, and a library's client that lives through it. */

import assert from 'node:assert/strict';
import { connectAsync, type MqttClient } from 'mqtt';
import { describe, test } from 'vitest';
import { createWebSocketStream, WebSocket } from 'ws';
import type { MarketStreamFault, OddMessage } from '../../../infra/simulator/index.ts';
import { selfSigned } from '../../deployed/self-signed.ts';
import { each } from '../../support/each.ts';
import { until } from '../../support/until.ts';
import { fieldsOf, type Message, speak, textsOf } from '../stream-client.ts';
import { playStream, type StreamScene, subscription } from '../stream-scene.ts';
import { codeOf, credentials } from '../support.ts';

const topicsOf = (messages: readonly Message[]) => each(messages, 'topic');

/** Two sessions that are subscribed, of which the fault is for the first. */
async function pair({ connect, subscribe }: StreamScene) {
  const clients = [await connect(), await connect({ sessionId: 'session-2' })] as const;
  for (const session_id of ['session-1', 'session-2'])
    assert.equal((await subscribe({ session_id })).status, 200);
  return clients;
}

const ofFirst = (fault: MarketStreamFault): MarketStreamFault => ({ ...fault, session: 'session-1' });

describe('a session', () => {
  test('that is mute gets heartbeats and no data, until it subscribes again', () =>
    playStream(async (scene) => {
      const [client, other] = await pair(scene);
      scene.stream.bring(ofFirst({ kind: 'mute' }));
      scene.trade(30_000);
      assert.deepEqual(topicsOf(await client.told()), ['echo', 'notice']);
      assert.deepEqual(topicsOf(await other.told()), ['snapshot', 'echo', 'notice']);
      await scene.subscribe({ symbols: ['MSFT'] });
      scene.trade();
      assert.deepEqual(topicsOf(await client.told()), ['snapshot', 'snapshot']);
    }));

  test('can be mute for good, until its client connects again', () =>
    playStream(async (scene) => {
      const [client] = await pair(scene);
      scene.stream.bring(ofFirst({ kind: 'mute', until: 'never' }));
      assert.equal((await scene.subscribe()).status, 200);
      scene.trade();
      assert.deepEqual(await client.told(), []);
      const again = await scene.connect();
      await scene.subscribe();
      scene.trade();
      assert.deepEqual(topicsOf(await again.told()), ['snapshot']);
    }));

  test('that was forgotten is not known over HTTP, stays connected, and never works again', () =>
    playStream(async (scene) => {
      const [client, other] = await pair(scene);
      scene.stream.bring(ofFirst({ kind: 'forget' }));
      scene.trade();
      assert.deepEqual(await client.told(), []);
      assert.equal((await other.told()).length, 1);
      assert.equal(codeOf(await scene.subscribe()), 'INVALID_SESSION');
      assert.equal((await scene.connect()).code, 0);
      assert.equal(codeOf(await scene.subscribe()), 'INVALID_SESSION');
      await scene.connect({ sessionId: 'session-3' });
      assert.equal((await scene.subscribe({ session_id: 'session-3' })).status, 200);
    }));

  test('is not known until some time after its first connection, which is remembered for a minute', () =>
    playStream(
      async (scene) => {
        await scene.connect();
        scene.now += 1999;
        assert.equal(codeOf(await scene.subscribe()), 'INVALID_SESSION');
        await scene.connect();
        scene.now += 1;
        assert.equal((await scene.subscribe()).status, 200);
        scene.now += 57_999;
        await scene.connect();
        assert.equal((await scene.subscribe()).status, 200);
        scene.now += 1;
        await scene.connect();
        assert.equal(codeOf(await scene.subscribe()), 'INVALID_SESSION');
        scene.now += 2000;
        assert.equal((await scene.subscribe()).status, 200);
      },
      {},
      { lateMs: 2000 },
    ));

  test('can be late on demand', () =>
    playStream(async (scene) => {
      scene.stream.bring({ kind: 'late', ms: 1000 });
      await scene.connect();
      assert.equal(codeOf(await scene.subscribe()), 'INVALID_SESSION');
      scene.now += 1000;
      assert.equal((await scene.subscribe()).status, 200);
      scene.stream.bring({ kind: 'late', ms: 0 });
      await scene.connect({ sessionId: 'session-2' });
      assert.equal((await scene.subscribe({ session_id: 'session-2' })).status, 200);
    }));

  test('that lost its right to data is told so, and gets data', () =>
    playStream(async (scene) => {
      const [client] = await pair(scene);
      scene.stream.bring(ofFirst({ kind: 'grabbed' }));
      scene.trade();
      const [notice, data] = await client.told();
      assert.deepEqual(JSON.parse(String(notice?.payload)), {
        type: '1002',
        content: 'Permission grabbed by other session, category : us-stock',
      });
      assert.equal(data?.topic, 'snapshot');
    }));
});

describe('a connection', () => {
  for (const kind of ['drop', 'take-over', 'bye-bye'] as const)
    test(`${kind}: ends without a word, and that of another session does not`, () =>
      playStream(async (scene) => {
        const [client, other] = await pair(scene);
        scene.stream.bring(ofFirst({ kind }));
        await client.over();
        scene.trade();
        assert.equal((await other.told()).length, 1);
        await until(() => codesEnded(scene) === 1);
        // One that was taken over does not count among the five.
        for (let at = 3; at < 6; at++)
          assert.equal((await scene.connect({ sessionId: `session-${at}` })).code, 0);
        assert.equal((await scene.connect()).code, kind === 'take-over' ? 0 : 105);
      }));

  test('that is frozen answers nothing, not even a ping', () =>
    playStream(async (scene) => {
      const [client, other] = await pair(scene);
      scene.stream.bring(ofFirst({ kind: 'freeze' }));
      scene.trade();
      client.write(0xc0, 0);
      assert.equal((await other.told()).length, 1);
      assert.deepEqual([client.packets, client.messages, client.isOver], [[], [], false]);
    }));

  test('over WebSocket can end with text where the code belongs', () =>
    playStream(async ({ stream }) => {
      const socket = new WebSocket(`ws://127.0.0.1:${stream.port}/mqtt`, ['mqtt']);
      const errors: Error[] = [];
      socket.on('error', (error) => errors.push(error));
      const client = speak(createWebSocketStream(socket), {});
      await client.answered();
      stream.bring({ kind: 'bye-bye' });
      await client.over();
      // The first two letters as a number.
      assert.deepEqual(each(errors, 'message'), ['Invalid WebSocket frame: invalid status code 25209']);
    }));

  test('can be refused with any code, for some times', () =>
    playStream(async ({ connect, stream }) => {
      stream.bring({ kind: 'refuse', code: 101, times: 2 });
      stream.bring({ kind: 'refuse', code: 5 });
      const codes = [];
      for (let at = 0; at < 4; at++) codes.push((await connect()).code);
      assert.deepEqual(codes, [101, 101, 5, 0]);
    }));
});

describe('a message', () => {
  const odd = {
    'not-protobuf': 'snapshot',
    empty: 'snapshot',
    'timestamp-not-digits': 'snapshot',
    'price-not-decimal': 'snapshot',
    'unknown-members': 'snapshot',
    'unknown-topic': 'event-later',
    'unknown-topic-not-text': 'event-later',
    'notice-not-json': 'notice',
    'too-large': 'snapshot',
  } as const satisfies Record<OddMessage, string>;
  for (const [what, topic] of Object.entries(odd) as [OddMessage, string][])
    test(`${what}, in between right ones`, () =>
      playStream(async (scene) => {
        const [client, other] = await pair(scene);
        scene.stream.bring(ofFirst({ kind: 'send', what }));
        scene.trade();
        const messages = await client.told();
        assert.deepEqual(topicsOf(messages), [topic, 'snapshot']);
        assert.equal((await other.told()).length, 1);
        const [{ payload }] = messages as [Message];
        const seen = {
          'not-protobuf': () => assert.throws(() => fieldsOf(payload)),
          empty: () => assert.equal(payload.length, 0),
          'timestamp-not-digits': () => assert.equal(textsOf(messages[0]!)[103], 'just now'),
          'price-not-decimal': () => assert.equal(textsOf(messages[0]!)[3], 'a lot'),
          'unknown-members': () => assert.equal(textsOf(messages[0]!)[99], 'later'),
          'unknown-topic': () => assert.equal(String(payload), 'later'),
          'unknown-topic-not-text': () => assert.ok(String(payload).includes('\ufffd')),
          'notice-not-json': () => assert.throws(() => JSON.parse(String(payload))),
          'too-large': () => assert.ok(payload.length > 4_000_000),
        };
        seen[what]();
      }));

  test('can be sent with quality 1 and as retained', () =>
    playStream(async (scene) => {
      const [client] = await pair(scene);
      scene.stream.bring({ kind: 'deliver', qos: 1, retain: true });
      scene.trade();
      const [{ qos, retain } = { qos: 0 }] = await client.told();
      assert.deepEqual([qos, retain], [1, true]);
      client.write(0x40, 2, 0, 1);
      scene.trade();
      assert.equal((await client.told()).length, 1);
    }));
});

const codesEnded = ({ stream }: StreamScene) =>
  stream.connections.filter(({ endedAt }) => endedAt !== undefined).length;

describe('MQTT.js', () => {
  const tls = selfSigned();
  const options = {
    clientId: 'session-1',
    username: credentials.appKey,
    password: 'any',
    reconnectPeriod: 1,
    rejectUnauthorized: false,
  };
  /** The topics of what comes, in order. */
  const heardBy = (client: MqttClient) => {
    const topics: string[] = [];
    client.on('message', (topic) => topics.push(topic));
    return topics;
  };

  for (const [way, path] of [
    ['mqtt', ''],
    ['mqtts', ''],
    ['ws', '/mqtt'],
    ['wss', '/mqtt'],
  ] as const)
    test(`connects over ${way}, hears what was subscribed, and connects again after a cut`, () =>
      playStream(
        async (scene) => {
          const { stream } = scene;
          const client = await connectAsync(`${way}://127.0.0.1:${stream.port}${path}`, options);
          try {
            const topics = heardBy(client);
            await client.subscribeAsync('quote');
            await scene.subscribe();
            scene.trade();
            await until(() => topics.length === 1);
            stream.bring({ kind: 'drop' });
            await until(() => stream.connections.length === 2 && client.connected);
            // A new connection has no subscription.
            assert.deepEqual(stream.sessions, { 'session-1': [] });
            await scene.subscribe({ sub_types: ['TICK'] });
            scene.trade();
            await until(() => topics.length === 2);
            assert.deepEqual(topics, ['snapshot', 'tick']);
            assert.equal(stream.connections[1]?.transport, way);
          } finally {
            await client.endAsync(true);
          }
        },
        {},
        { tls },
      ));

  test('is told of a refusal whose code no standard has', () =>
    playStream(async ({ stream }) => {
      await assert.rejects(
        connectAsync(stream.url, { ...options, username: 'another', reconnectPeriod: 0 }),
        ({ code }: { code: number }) => code === 104,
      );
    }));
});

test('a client that does not read loses messages, and hears how many', () =>
  playStream(async (scene) => {
    const client = await scene.connect({ keepalive: 0 });
    await scene.subscribe(subscription);
    client.pause();
    for (let at = 0; at < 40; at++) scene.stream.bring({ kind: 'send', what: 'too-large' });
    client.resume();
    await until(() => client.messages.length > 1);
    await client.told();
    scene.trade(30_000);
    const notice = (await client.told()).find(({ topic }) => topic === 'notice');
    const { sent, drop } = JSON.parse(String(notice?.payload));
    assert.ok(drop > 0);
    // The forty, and the snapshot of the last trade.
    assert.equal(sent + drop, 41);
  }));
