/** What is one change and what are two: the rules of the ids, in every order of the sights. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { termsDiffer, termsOf } from '../../lib/orders/order-state.ts';
import {
  type OrderMemory,
  type Reading,
  readStep,
  type StreamedOrder,
  streamedChange,
} from '../../lib/trade-events/order-changes.ts';

const now = 1_800_000_000_000;
const base = { account: 'a', clientOrderId: 'c' } as const;
const memory = (change: Partial<OrderMemory> = {}): OrderMemory => ({
  ...base,
  status: 'SUBMITTED',
  filled: '0',
  terms: '{"limit_price":"1"}',
  firstAt: now,
  notedAt: now,
  ...change,
});
const streamed = (scene: string, status: string, filled = '0', at?: number): StreamedOrder => ({
  state: { ...base, status, filled },
  scene,
  requestId: 'r',
  ...(at !== undefined && { at }),
});
const reading = (change: Partial<Reading> = {}): Reading => ({
  isLookUp: true,
  since: now - 60_000,
  from: now + 100,
  until: now + 200,
  placedAt: now,
  isWhole: false,
  ...change,
});
const read = (status: string, filled = '0', price = '1') => ({
  ...base,
  status,
  filled,
  terms: JSON.stringify({ limit_price: price }),
});

function eventOf(step: ReturnType<typeof streamedChange> | ReturnType<typeof readStep>) {
  assert.ok(typeof step !== 'string' && step.kind === 'event', JSON.stringify(step));
  return step;
}

describe('a change that the stream and a read show is one', () => {
  const pairs = [
    [streamed('FILLED', 'SUBMITTED', '3'), read('PARTIAL_FILLED', '3')],
    [streamed('FILLED', 'PARTIAL_FILLED', '3'), read('SUBMITTED', '3')],
    [streamed('FINAL_FILLED', 'FILLED', '10'), read('FILLED', '10')],
    [streamed('CANCEL_SUCCESS', 'CANCELLED', '3'), read('CANCELLED', '3')],
    [streamed('', 'CANCELLED', '3'), read('CANCELLED', '3')],
    [streamed('PLACE_FAILED', 'FAILED'), read('FAILED')],
  ] as const;
  test.each(pairs)('%o', (message, seen) => {
    for (const known of [undefined, memory()]) {
      const byStream = eventOf(streamedChange(known, message, now));
      const byRead = eventOf(readStep(known, seen, reading()));
      assert.deepEqual(byStream.id, byRead.id);
      assert.deepEqual(readStep(byStream.next, { ...seen, terms: '{}' }, reading()).kind === 'event', false);
    }
  });

  test('also an end whose message leaves out what was filled', () => {
    const known = memory({ status: 'PARTIAL_FILLED', filled: '3' });
    const message = streamed('CANCEL_SUCCESS', 'CANCELLED');
    const byRead = eventOf(readStep(known, read('CANCELLED', '3'), reading()));
    assert.deepEqual(eventOf(streamedChange(known, message, now)).id, byRead.id);
    assert.deepEqual(eventOf(streamedChange(byRead.next, message, now)).id, byRead.id);
  });
});

test('a list that contradicts itself is looked up, and makes no event', () => {
  for (const torn of [read('PENDING', '3'), read('FILLED'), read('PARTIAL_FILLED')])
    for (const known of [undefined, memory()])
      assert.deepEqual(readStep(known, torn, reading({ isLookUp: false })), { kind: 'look' });
  assert.equal(readStep(memory(), read('PARTIAL_FILLED', '3'), reading({ isLookUp: false })).kind, 'event');
});

describe('what is known never goes back', () => {
  const status = fc.constantFrom(
    'PENDING',
    'SUBMITTED',
    'PARTIAL_FILLED',
    'FILLED',
    'CANCELLED',
    'FAILED',
    'NEW',
  );
  const sight = fc.record(
    {
      status,
      filled: fc.nat(5).map(String),
      scene: fc.constantFrom('FILLED', 'CANCEL_SUCCESS', 'CANCEL_FAILED', 'MODIFY_SUCCESS', 'X'),
    },
    { noNullPrototype: true },
  );
  const isEnd = (one: string) => ['FILLED', 'CANCELLED', 'FAILED'].includes(one);

  test('by any sights in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(sight, fc.boolean())), (sights) => {
        let known: OrderMemory | undefined;
        for (const [{ status: seen, filled, scene }, isRead] of sights) {
          const step = isRead
            ? readStep(known, read(seen, filled), reading())
            : streamedChange(known, streamed(scene, seen, filled), now);
          const next = typeof step === 'string' || !('next' in step) ? undefined : step.next;
          if (known && next) {
            assert.ok(Number(next.filled) >= Number(known.filled));
            if (isEnd(known.status))
              assert.deepEqual([next.status, next.filled], [known.status, known.filled]);
          }
          known = next ?? known;
        }
      }),
    );
  });

  test('a list’s older state is nothing', () => {
    const known = memory({ status: 'PARTIAL_FILLED', filled: '3' });
    for (const older of [read('SUBMITTED'), read('PARTIAL_FILLED', '2'), read('PARTIAL_FILLED', '3')])
      assert.equal(readStep(known, older, reading({ isLookUp: false })).kind, 'nothing');
    const end = memory({ status: 'CANCELLED', filled: '3' });
    for (const other of [read('FILLED', '10'), read('SUBMITTED'), read('CANCELLED', '3', '9')])
      assert.equal(readStep(end, other, reading()).kind, 'nothing');
  });

  test('a message of a request says nothing of the state', () => {
    for (const scene of ['MODIFY_FAILED', 'CANCEL_FAILED', 'LATER'])
      assert.equal(
        eventOf(streamedChange(memory(), streamed(scene, 'PARTIAL_FILLED', '9'), now)).next,
        undefined,
      );
    const { next } = eventOf(
      streamedChange(memory(), streamed('MODIFY_SUCCESS', 'PARTIAL_FILLED', '9'), now),
    );
    assert.deepEqual([next?.status, next?.filled, next?.terms], ['SUBMITTED', '0', undefined]);
  });
});

describe('a replacement', () => {
  test('is looked up when a list shows it, and told when the look-up does', () => {
    const shown = read('SUBMITTED', '0', '2');
    assert.deepEqual(readStep(memory(), shown, reading({ isLookUp: false })), { kind: 'look' });
    const { id, next, scene } = eventOf(readStep(memory(), shown, reading()));
    assert.deepEqual(
      [scene, next?.terms, next?.replacedAt],
      ['MODIFY_SUCCESS', shown.terms, now + 200 + 500],
    );
    const back = eventOf(readStep(next, read('SUBMITTED', '0', '1'), reading()));
    const again = eventOf(readStep(back.next, shown, reading()));
    assert.notDeepEqual(again.id, id);
  });

  test('that a read has told of is a repetition on the stream, up to the read', () => {
    const known = memory({ replacedAt: now });
    const at = (time?: number) =>
      streamedChange(known, streamed('MODIFY_SUCCESS', 'SUBMITTED', '0', time), now);
    assert.equal(at(now), 'repetition');
    assert.equal(eventOf(at(now + 1)).next?.replacedAt, now);
    assert.equal(eventOf(at()).next?.modifiedAt, now);
  });

  test('that the stream told is learned by a later look-up alone, without an event', () => {
    const { next } = eventOf(
      streamedChange(memory(), streamed('MODIFY_SUCCESS', 'SUBMITTED', '0', now), now),
    );
    const shown = read('SUBMITTED', '0', '2');
    assert.equal(readStep(next, shown, reading({ isLookUp: false })).kind, 'look');
    assert.equal(readStep(next, shown, reading({ from: now })).kind, 'nothing');
    const learned = readStep(next, shown, reading());
    assert.ok(learned.kind === 'note' && learned.next.terms === shown.terms);
    assert.equal(readStep(learned.next, shown, reading()).kind, 'nothing');
  });

  test('is one in what both reads show, however they write it', () => {
    const terms = (members: Record<string, string>) => termsOf(new Map(Object.entries(members)));
    assert.equal(
      termsDiffer(terms({ limit_price: '1.10' }), terms({ limit_price: '1.1', stop_price: '2' })),
      false,
    );
    assert.equal(termsDiffer(terms({ limit_price: '1.10' }), terms({ limit_price: '1.11' })), true);
    assert.equal(termsDiffer(terms({ order_type: 'LIMIT' }), terms({ order_type: 'MARKET' })), true);
  });
});

describe('the first sight of an order', () => {
  const old = { placedAt: now - 90_000 };
  test('is an event when something happened to it since the last comparison', () => {
    eventOf(readStep(undefined, read('PARTIAL_FILLED', '3'), reading()));
    eventOf(readStep(undefined, read('CANCELLED'), reading()));
    eventOf(readStep(undefined, read('FILLED', '9'), reading({ ...old, filledAt: now })));
  });
  test('is a note when it is merely there, or older', () => {
    for (const status of ['PENDING', 'SUBMITTED'])
      assert.equal(readStep(undefined, read(status), reading()).kind, 'note');
    const filledAt = now - 80_000;
    assert.equal(
      readStep(undefined, read('PARTIAL_FILLED', '3'), reading({ ...old, filledAt })).kind,
      'note',
    );
    assert.equal(readStep(undefined, read('CANCELLED'), reading(old)).kind, 'nothing');
  });
});

test('a list that shows all of an order filled and calls it open is behind: the look-up tells', () => {
  const behind = read('PENDING', '10');
  for (const known of [undefined, memory()]) {
    assert.equal(readStep(known, behind, reading({ isWhole: true, isLookUp: false })).kind, 'look');
    assert.equal(readStep(known, behind, reading({ isWhole: true })).kind, 'nothing');
  }
});

test('an open order is noted anew every week, so that no store forgets it', () => {
  const weeks = reading({ until: now + 8 * 86_400_000 });
  const step = readStep(memory(), read('SUBMITTED'), weeks);
  assert.ok(step.kind === 'note' && step.next.notedAt === weeks.until);
});

describe('a placement that failed leaves its id to another order', () => {
  const failed = (at: number, requestId: string) => ({
    ...streamed('PLACE_FAILED', 'FAILED', '0', at),
    requestId,
  });
  const first = eventOf(streamedChange(undefined, failed(now, 'r1'), now));

  test('a failure that is told twice is one; a later one is another', () => {
    for (const again of [failed(now, 'r1'), failed(now + 9, 'r1'), failed(now - 9, 'r0')])
      assert.deepEqual(eventOf(streamedChange(first.next, again, now)).id, first.id);
    const second = eventOf(streamedChange(first.next, failed(now + 5000, 'r2'), now + 5000));
    assert.notDeepEqual(second.id, first.id);
    const third = eventOf(streamedChange(second.next, failed(now + 9000, 'r3'), now + 9000));
    assert.equal(new Set([first, second, third].map(({ id }) => id.join())).size, 3);
    assert.deepEqual(eventOf(streamedChange(third.next, failed(now + 9000, 'r3'), now)).id, third.id);
  });

  test('a read that shows the same failure tells nothing, and gives its id where the stream did not', () => {
    assert.equal(readStep(first.next, read('FAILED'), reading()).kind, 'nothing');
    assert.deepEqual(eventOf(readStep(undefined, read('FAILED'), reading())).id, first.id);
  });

  test('fills of the second order are told, by the stream or by a read', () => {
    const filled = streamed('FILLED', 'SUBMITTED', '3', now + 5000);
    const told = eventOf(streamedChange(first.next, filled, now + 5000));
    const later = reading({ placedAt: now + 4000, from: now + 6000, until: now + 6100 });
    const seen = eventOf(readStep(first.next, read('PARTIAL_FILLED', '3'), later));
    assert.deepEqual(seen.id, told.id);
    assert.equal(told.next?.status, 'SUBMITTED');
    // A fill of an order that did not fail has the id that it always had.
    const plain = eventOf(streamedChange(undefined, filled, now));
    assert.notDeepEqual(told.id, plain.id);
  });

  test('a list that still shows the first order says nothing of a second', () => {
    const behind = reading({ isLookUp: false, placedAt: now - 1000 });
    assert.equal(readStep(first.next, read('SUBMITTED'), behind).kind, 'nothing');
  });
});
