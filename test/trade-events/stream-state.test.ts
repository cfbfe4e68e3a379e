/** The life of a stream: what each message and each end asks for. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  nextStreamState,
  openStream,
  reconnectPause,
  type StreamState,
} from '../../lib/trade-events/index.ts';

const now = 1_800_000_000_000;
const minute = 60_000;
const opened = openStream(now);
const subscribed = nextStreamState(opened, { kind: 'message', message: 'subscribed' }, now + 10);
const ended = (end: StreamState['end'], state = subscribed): StreamState => ({
  ...state,
  ...(end && { end }),
});
const pauseAfter = (state: StreamState, failures = 0, at = now + 5 * minute) =>
  reconnectPause(state, at, failures, 0.5).pauseMs;

describe('a stream', () => {
  test('is subscribed by the first message that is no refusal, and lives by every one', () => {
    assert.deepEqual(subscribed, { openedAt: now, subscribedAt: now + 10, lastSignAt: now + 10 });
    const pinged = nextStreamState(subscribed, { kind: 'message', message: 'ping' }, now + 99);
    assert.deepEqual(pinged, { ...subscribed, lastSignAt: now + 99 });
    const data = nextStreamState(opened, { kind: 'message', message: 'order' }, now + 5);
    assert.equal(data.subscribedAt, now + 5);
  });

  test('is dead when nothing comes, from its opening on', () => {
    for (const state of [opened, subscribed]) {
      const due = state.lastSignAt + 90_000;
      assert.equal(nextStreamState(state, { kind: 'tick' }, due - 1).end, undefined);
      assert.equal(nextStreamState(state, { kind: 'tick' }, due).end, 'silent');
    }
    assert.equal(nextStreamState(opened, { kind: 'tick' }, now + 50, 50).end, 'silent');
  });

  test('ends as its message or its status says, and only once', () => {
    for (const message of ['authentication_error', 'too_many_connections', 'expired'] as const) {
      const state = nextStreamState(subscribed, { kind: 'message', message }, now);
      assert.equal(state.end, message);
      assert.equal(nextStreamState(state, { kind: 'closed', status: 'OK' }, now), state);
      assert.equal(nextStreamState(state, { kind: 'message', message: 'ping' }, now), state);
    }
    const endOf = (status: string) => nextStreamState(subscribed, { kind: 'closed', status }, now).end;
    assert.deepEqual(
      ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'OK', 'toString'].map(
        endOf,
      ),
      ['authentication_error', 'authentication_error', 'too_many_connections', 'broken', 'broken', 'broken'],
    );
  });
});

describe('after it', () => {
  test('comes another one at once, unless this is a habit', () => {
    for (const end of ['expired', 'secret_changed', 'mute'] as const) {
      assert.equal(pauseAfter(ended(end)), 0);
      assert.ok(pauseAfter(ended(end), 1, now + minute / 2) > 0);
    }
  });

  test('a refusal is answered by ever longer pauses', () => {
    const auth = [0, 1, 2, 9].map((failures) => pauseAfter(ended('authentication_error'), failures) / minute);
    assert.deepEqual(auth.map(Math.floor), [16, 33, 67, 270]);
    const many = [0, 1, 2, 9].map((failures) => pauseAfter(ended('too_many_connections'), failures) / minute);
    assert.deepEqual(many.map(Math.floor), [1, 2, 4, 11]);
  });

  test('a break is followed by back-off with jitter, from half a second to half a minute', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const { pauseMs, failures: next } = reconnectPause(ended('broken', opened), now, failures, random);
        const most = Math.min(30_000, 500 * 2 ** failures);
        assert.ok(pauseMs >= most / 2 - 1 && pauseMs <= most + 1, `${pauseMs}`);
        assert.equal(next, failures + 1);
      }),
    );
  });

  test('a stream that lived for a minute was no failure', () => {
    assert.equal(reconnectPause(ended('broken'), now + 10 + minute, 7, 1).failures, 1);
    assert.equal(reconnectPause(ended('broken'), now + 9 + minute, 7, 1).failures, 8);
  });
});
