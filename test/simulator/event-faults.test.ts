/** What goes wrong on an event stream on purpose, as a client sees it, and how each end ends. */

import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { describe, test } from 'vitest';
import { type EventFault, eventPath, type OddEvent } from '../../infra/simulator/events/index.ts';
import { until } from '../support/until.ts';
import { metadataFor, type OpenStream, requestBytes } from './event-client.ts';
import { play, type Scene } from './event-scene.ts';
import { testTime } from './support.ts';
import { account_id } from './trader.ts';

const resting = { order_type: 'LIMIT', limit_price: '1.00', quantity: '10' };

const typesOf = ({ events }: OpenStream) => events.map(({ eventType }) => eventType);
const filledOf = ({ payloads }: OpenStream) => payloads.map(({ filled_qty }) => filled_qty);

/** An order of which one share after the other is filled. */
async function filling(scene: Scene): Promise<() => void> {
  const id = await scene.place(resting);
  return () => scene.simulator.trading.fill(account_id, id, '1');
}

/** A stream of HTTP/2 alone, for what a gRPC library does not show. */
function rawStream(port: number) {
  const session = connect(`http://127.0.0.1:${port}`);
  const message = requestBytes({ accounts: [account_id] });
  const call = session.request({
    ':method': 'POST',
    ':path': eventPath,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...metadataFor(message).toHttp2Headers(),
  });
  call.end(Uint8Array.of(0, 0, 0, 0, message.length, ...message));
  return { session, call };
}

describe('the upstream ends a stream', () => {
  const ends: readonly (readonly [EventFault['kind'], eventType: number, status: number])[] = [
    ['authentication-error', 2, 16],
    ['too-many-connections', 3, 8],
    ['expire', 4, 0],
  ];
  for (const [kind, eventType, status] of ends)
    test(`${kind}: event ${eventType}, then status ${status}; then a new one may begin`, () =>
      play(async (scene) => {
        const { events } = scene.simulator;
        const stream = await scene.listen();
        scene.now += 5000;
        events.bring({ kind } as EventFault);
        assert.equal(await stream.ended(), status);
        assert.deepEqual(typesOf(stream), [0, eventType]);
        assert.equal(events.subscriptions[0]?.endedAt, testTime + 5000);
        assert.deepEqual(typesOf(await scene.listen()), [0]);
        assert.deepEqual([events.open, events.mostOpen], [1, 1]);
      }));

  test('drop: the connection ends without a word', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      scene.simulator.events.bring({ kind: 'drop' });
      assert.equal(await stream.ended(), 14);
      assert.deepEqual(typesOf(stream), [0]);
    }));

  test('goaway: HTTP/2 says so with its code, then the connection ends; another one may begin', () =>
    play(async (scene) => {
      const { events } = scene.simulator;
      for (const fault of [{ kind: 'goaway' }, { kind: 'goaway', code: 11 }] as const) {
        const { session, call } = rawStream(events.port);
        const codes: number[] = [];
        session.on('goaway', (code) => codes.push(code));
        session.on('error', () => {});
        call.on('error', () => {});
        const closed = new Promise<void>((resolve) => session.once('close', () => resolve()));
        call.resume();
        await until(() => events.open === 1);
        events.bring(fault);
        await closed;
        assert.deepEqual(codes, ['code' in fault ? fault.code : 0]);
        assert.equal(events.open, 0);
      }
      const stream = await scene.listen();
      assert.deepEqual(typesOf(stream), [0]);
      events.bring({ kind: 'goaway' });
      assert.equal(await stream.ended(), 14);
    }));

  test('its own end is one of every stream', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      await scene.simulator.close();
      assert.equal(await stream.ended(), 14);
    }));
});

describe('a subscription is refused', () => {
  const refusals = [
    ['authentication-error', [2], 16],
    ['too-many-connections', [3], 8],
    ['unavailable', [], 14],
  ] as const;
  for (const [as, types, status] of refusals)
    test(`${as}, as often as was said`, () =>
      play(async (scene) => {
        scene.simulator.events.bring({ kind: 'refuse', as, times: 2 });
        for (let time = 0; time < 2; time++) {
          const stream = await scene.listen();
          assert.deepEqual([await stream.ended(), typesOf(stream)], [status, types]);
        }
        assert.deepEqual(typesOf(await scene.listen()), [0]);
      }));

  test('a second stream of the same key, until the first has ended; the first goes on', () =>
    play(async (scene) => {
      const { events } = scene.simulator;
      const first = await scene.listen();
      const second = await scene.listen();
      assert.deepEqual([await second.ended(), typesOf(second)], [8, [3]]);
      await scene.told(first);
      assert.deepEqual(typesOf(first), [0, 1]);
      first.close();
      await until(() => events.open === 0);
      assert.deepEqual(typesOf(await scene.listen()), [0]);
      assert.deepEqual(
        [events.mostOpen, events.subscriptions.map(({ outcome }) => outcome)],
        [1, ['subscribed', 'too-many-connections', 'subscribed']],
      );
    }));
});

describe('a stream that looks healthy', () => {
  test('mute: pings go on and data does not, until the client subscribes anew', () =>
    play(async (scene) => {
      const { events } = scene.simulator;
      const fill = await filling(scene);
      const stream = await scene.listen();
      events.bring({ kind: 'mute' });
      fill();
      await scene.told(stream);
      assert.deepEqual(typesOf(stream), [0, 1]);
      stream.close();
      await until(() => events.open === 0);
      const next = await scene.listen();
      fill();
      await scene.told(next);
      assert.deepEqual(filledOf(next), ['2']);
    }));

  test('freeze: not even HTTP/2 answers, which only a client that asks notices; another stream may begin', () =>
    play(async (scene) => {
      const { events } = scene.simulator;
      const fill = await filling(scene);
      const { session, call } = rawStream(events.port);
      let received = 0;
      call.on('data', (chunk: Uint8Array) => {
        received += chunk.length;
      });
      await until(() => received > 0);
      await new Promise((resolve) => session.ping(resolve));
      const before = received;

      events.bring({ kind: 'freeze' });
      let isAnswered = false;
      session.ping(() => {
        isAnswered = true;
      });
      const next = await scene.listen();
      fill();
      await scene.told(next);
      assert.deepEqual(filledOf(next), ['1']);
      assert.deepEqual([isAnswered, received, session.closed], [false, before, false]);
      session.destroy();
    }));
});

describe('events', () => {
  test('repeat: a new subscription gets the last ones again, byte for byte', () =>
    play(async (scene) => {
      const { events } = scene.simulator;
      const fill = await filling(scene);
      const first = await scene.listen();
      for (let count = 0; count < 3; count++) fill();
      await scene.told(first);
      events.bring({ kind: 'drop' });
      await first.ended();
      events.bring({ kind: 'repeat', events: 2 });
      const second = await scene.listen();
      fill();
      await scene.told(second);
      const dataOf = (stream: OpenStream) => stream.events.filter(({ eventType }) => eventType > 4);
      assert.deepEqual(dataOf(second).slice(0, 2), dataOf(first).slice(1));
      assert.deepEqual(filledOf(second), ['2', '3', '4']);
      scene.simulator.events.bring({ kind: 'drop' });
      assert.deepEqual(typesOf(await scene.listen()), [0]);
    }));

  test('lose: the next ones come never, and are on record', () =>
    play(async (scene) => {
      const fill = await filling(scene);
      const stream = await scene.listen();
      scene.simulator.events.bring({ kind: 'lose', events: 2 });
      for (let count = 0; count < 3; count++) fill();
      await scene.told(stream);
      assert.deepEqual(filledOf(stream), ['3']);
      assert.equal(scene.simulator.trading.changes().length, 3);
    }));

  const odd: readonly (readonly [OddEvent, eventType: number, payload: string])[] = [
    ['unknown-type', 4096, '{"later":true}'],
    ['unknown-members', 1024, '{"later":{"a":[1]}}'],
    ['payload-not-json', 1024, 'not JSON'],
    ['payload-cut', 1024, '{"account_id":"Q7H2'],
    ['no-payload', 1024, ''],
  ];
  for (const [what, eventType, payload] of odd)
    test(`${what}: it comes, and the stream goes on`, () =>
      play(async (scene) => {
        const stream = await scene.listen();
        scene.simulator.events.bring({ kind: 'send', what });
        scene.simulator.events.ping();
        await stream.came(3);
        assert.deepEqual(typesOf(stream), [0, eventType, 1]);
        assert.equal(stream.events[1]?.payload, payload);
      }));

  test('not-protobuf: a client that reads it fails', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      scene.simulator.events.bring({ kind: 'send', what: 'not-protobuf' });
      assert.notEqual(await stream.ended(), 0);
      assert.deepEqual(typesOf(stream), [0]);
    }));
});
