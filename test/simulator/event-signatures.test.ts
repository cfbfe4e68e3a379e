/** A subscription that is not signed exactly as the facts say is answered with an authentication error. */

import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, test } from 'vitest';
import { subscriptionString, verifySubscription } from '../../infra/simulator/events/index.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { each } from '../support/each.ts';
import { type EventVector, eventVectors } from '../support/event-vectors.ts';
import { type Draft, requestBytes, subscribe } from './event-client.ts';
import { play } from './event-scene.ts';
import { credentials, send, snapshotTarget, testTime } from './support.ts';
import { account_id } from './trader.ts';

const metadataOf = ({ request: { appKey, nonce, timestamp } }: EventVector) => ({
  'x-app-key': appKey,
  'x-signature-algorithm': 'HMAC-SHA256',
  'x-signature-version': '1.0',
  'x-signature-nonce': nonce,
  'x-timestamp': timestamp,
});

const bytesOf = ({ request }: EventVector) => Uint8Array.from(Buffer.from(request.serializedHex, 'hex'));

describe('vectors', () => {
  for (const vector of eventVectors) {
    const { request, encodedString, signature } = vector;
    const now = Date.parse(request.timestamp);
    const verify = (changed: Readonly<Record<string, string>> = {}, message = bytesOf(vector)) =>
      verifySubscription(
        {
          rawMetadata: Object.entries({
            ...metadataOf(vector),
            'x-signature': signature,
            ...changed,
          }).flat(),
          message,
          now,
        },
        {
          secretOf: (key) => (key === request.appKey ? request.appSecret : undefined),
          toleranceSeconds: 300,
        },
      );

    test(`${vector.name}: accepted, over the same encoded string`, () => {
      assert.equal(subscriptionString(metadataOf(vector), bytesOf(vector)), encodedString);
      const { nonce, appKey } = request;
      assert.deepEqual(verify(), { ok: true, appKey, nonce, timestamp: now });
    });

    test(`${vector.name}: not with another byte, or another value of what is signed`, () => {
      fc.assert(
        fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, difference) => {
          const message = bytesOf(vector);
          message[at % message.length]! ^= difference;
          assert.equal((verify({}, message) as { error_code?: string }).error_code, 'INCORRECT_SIGN');
        }),
      );
      for (const change of [{ 'x-signature-nonce': 'another' }, { 'x-signature': signature.toLowerCase() }])
        assert.equal((verify(change) as { error_code?: string }).error_code, 'INCORRECT_SIGN');
    });

    test(`${vector.name}: accepted over the wire`, async () => {
      const { appKey, appSecret, nonce, message } = request;
      const simulator = await startSimulator({ appKey, appSecret, clock: () => now, events: { pingMs: 0 } });
      const change = { 'x-signature': signature };
      const stream = subscribe(simulator, { appKey, nonce, now, bytes: bytesOf(vector), change });
      await stream.came(1);
      assert.deepEqual(each(stream.events, 'eventType'), [0]);
      const { outcome, accounts, subscribeType } = simulator.events.subscriptions[0]!;
      assert.deepEqual(
        [outcome, accounts, subscribeType],
        ['subscribed', message.accounts, message.subscribeType],
      );
      stream.close();
      await simulator.close();
    });
  }
});

const iso = (ms: number) => new Date(testTime + ms).toISOString().replace(/\.\d+Z/, 'Z');

describe('refused with an authentication error, which ends the stream', () => {
  const faults: readonly (readonly [string, Draft, outcome: string])[] = [
    ['another secret', { appSecret: 'other' }, 'INCORRECT_SIGN'],
    ['an app key that is not known', { appKey: 'other' }, 'UNAUTHORIZED'],
    ['a key of the other environment', { appKey: 'foreign' }, 'UNAUTHORIZED'],
    ['a signature of other bytes', { change: { 'x-signature': 'AAAA' } }, 'INCORRECT_SIGN'],
    ['no app key', { change: { 'x-app-key': undefined } }, 'MISSING_APP_KEY'],
    ['no timestamp', { change: { 'x-timestamp': undefined } }, 'MISSING_TIMESTAMP'],
    ['no signature', { change: { 'x-signature': undefined } }, 'MISSING_SIGNATURE'],
    ['no algorithm', { change: { 'x-signature-algorithm': undefined } }, 'MISSING_ALGORITHM'],
    ['no nonce', { change: { 'x-signature-nonce': undefined } }, 'MISSING_NONCE'],
    ['no signature version', { change: { 'x-signature-version': undefined } }, 'ILLEAGAL_PARAMETER'],
    ['an empty nonce', { sign: { 'x-signature-nonce': '' } }, 'MISSING_NONCE'],
    ['two nonces', { change: { 'x-signature-nonce': ['n1', 'n2'] } }, 'ILLEAGAL_PARAMETER'],
    ['a version of the interface', { change: { 'x-version': 'v3' } }, 'ILLEAGAL_PARAMETER'],
    [
      'another algorithm',
      { sign: { 'x-signature-algorithm': 'HMAC-SHA1' } },
      'SIGNATURE_ALGORITHM_NOT_SUPPORTED',
    ],
    ['another signature version', { sign: { 'x-signature-version': '2.0' } }, 'VERSION_NOT_SUPPORTED'],
    [
      'milliseconds in the timestamp',
      { sign: { 'x-timestamp': '2026-11-17T09:30:00.000Z' } },
      'ILLEAGAL_TIMESTAMP',
    ],
    ['a clock that is early', { sign: { 'x-timestamp': iso(-301_000) } }, 'CLOCK_SKEW_EXCEEDED'],
    ['a clock that is late', { sign: { 'x-timestamp': iso(301_000) } }, 'CLOCK_SKEW_EXCEEDED'],
    [
      'another signed name',
      { sign: { 'x-version': 'v3' }, change: { 'x-version': undefined } },
      'INCORRECT_SIGN',
    ],
  ];
  for (const [name, draft, outcome] of faults)
    test(name, () =>
      play(
        async (scene) => {
          const { events } = scene.simulator;
          const stream = await scene.listen(draft);
          assert.equal(await stream.ended(), 16);
          assert.deepEqual(each(stream.events, 'eventType', 'contentType'), [[2, 'text/plain']]);
          assert.deepEqual([events.subscriptions[0]?.outcome, events.open], [outcome, 0]);
        },
        { foreignKeys: ['foreign'] },
      ),
    );

  test('a nonce that was used before, over HTTP or here', () =>
    play(async (scene) => {
      await send(scene.simulator, { target: snapshotTarget, nonce: 'over-http' });
      for (const nonce of ['over-http', 'here', 'here']) await scene.listen({ nonce });
      assert.deepEqual(each(scene.simulator.events.subscriptions, 'outcome'), [
        'DUPPLICATED_REQUEST',
        'subscribed',
        'DUPPLICATED_REQUEST',
      ]);
    }));

  test('the edges of the clock’s tolerance are let in', () =>
    play(
      async (scene) => {
        for (const ms of [-300_000, 300_000])
          assert.equal((await scene.listen({ sign: { 'x-timestamp': iso(ms) } })).events[0]?.eventType, 0);
      },
      { events: { streams: 2 } },
    ));

  test('no access token, or a wrong one, where one is asked for', () =>
    play(
      async (scene) => {
        const asked = [{}, { 'x-access-token': 'wrong' }, { 'x-access-token': 'the-token' }];
        const types: (number | undefined)[] = [];
        for (const change of asked) types.push((await scene.listen({ change })).events[0]?.eventType);
        assert.deepEqual(types, [2, 2, 0]);
        assert.equal(scene.simulator.events.subscriptions[0]?.outcome, 'INVALID_TOKEN');
      },
      { accessToken: 'the-token' },
    ));

  test('the old secret after a rotation; what is open goes on', () =>
    play(
      async (scene) => {
        const before = await scene.listen();
        scene.simulator.setCredentials([{ ...credentials, appSecret: 'new' }]);
        assert.equal((await scene.listen()).events[0]?.eventType, 2);
        assert.equal((await scene.listen({ appSecret: 'new' })).events[0]?.eventType, 0);
        await scene.told(before);
        assert.equal(before.status, undefined);
      },
      { events: { streams: 2 } },
    ));
});

describe('what is no subscription', () => {
  test('fields that are not known pass', () =>
    play(async (scene) => {
      const later = [0x32, 0x02, 0x61, 0x62, 0xb8, 0x06, 0x01];
      const bytes = Uint8Array.from([...requestBytes({ accounts: [account_id] }), ...later]);
      assert.equal((await scene.listen({ bytes })).events[0]?.eventType, 0);
      assert.deepEqual(scene.simulator.events.subscriptions[0]?.accounts, [account_id]);
    }));

  test('bytes that are no message, rightly signed, are an invalid argument', () =>
    play(async (scene) => {
      const stream = await scene.listen({ bytes: Uint8Array.of(0x2a, 0x7f, 0x41) });
      assert.deepEqual([await stream.ended(), stream.events], [3, []]);
    }));

  test('another method is unimplemented', () =>
    play(async (scene) => {
      const stream = await scene.listen({ path: '/grpc.trade.event.EventService/Publish' });
      assert.deepEqual([await stream.ended(), stream.events], [12, []]);
      assert.deepEqual(scene.simulator.events.subscriptions, []);
    }));
});
