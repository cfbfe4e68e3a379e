/** What is on the bus is what the published schemas say, and what `parseTradeEvent` reads; repetitions are dropped. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { beforeEach, test } from 'vitest';
import {
  createMemorySeenEvents,
  createRepetitionFilter,
  parseTradeEvent,
} from '../../../lib/trade-events/index.ts';
import { eventValidators } from '../../docs/event-validators.ts';
import { runChaos } from '../world/chaos.ts';
import { useSynchronousCrypto } from '../world/synchronous-crypto.ts';

beforeEach(useSynchronousCrypto);

const detail = {
  event_id: 'e1',
  account: 'keyed',
  account_id: '1234567',
  client_order_id: 'cid',
  status: 'FILLED',
  filled_quantity: '1.0',
  reconciled: false,
  received_at: '2026-11-22T10:00:00.000Z',
  order: { anything: [1, null] },
};

test('every event of a bad day has its schema', async () => {
  const world = await runChaos({ minutes: 10, kills: 0.2, streamFaults: 0.2, seed: 7 });
  world.upstream.send({ eventType: 1028, payload: '{"a":1}', requestId: 'p' });
  world.upstream.send({ eventType: 9, payload: 'no JSON', requestId: 'x' });
  await world.pass(1_000);
  const validators = eventValidators();
  const kinds = new Set<string>();
  for (const { detailType, detail: text } of world.bus) {
    const parsed: unknown = JSON.parse(text);
    const validate = validators[detailType];
    assert.ok(validate?.(parsed), `${detailType}: ${text}`);
    assert.ok(parseTradeEvent(JSON.stringify({ 'detail-type': detailType, detail: parsed })));
    kinds.add(detailType);
  }
  assert.equal(kinds.size, 3);
  assert.ok(world.bus.length > 50);
});

test('an event is read with its envelope; what is none is not', () => {
  const event = { source: 'countersign', 'detail-type': 'OrderChanged', detail };
  assert.deepEqual(parseTradeEvent(event), { detailType: 'OrderChanged', detail });
  assert.deepEqual(
    parseTradeEvent({ ...event, detail: { ...detail, later: 1 } })?.detailType,
    'OrderChanged',
  );
  for (const wrong of [
    undefined,
    null,
    'no JSON',
    detail,
    { ...event, 'detail-type': 'Other' },
    { ...event, 'detail-type': 'toString' },
    { ...event, detail: { ...detail, event_id: '' } },
    { ...event, detail: { ...detail, order: 'text' } },
    { ...event, detail: { ...detail, reconciled: 'no' } },
  ])
    assert.equal(parseTradeEvent(wrong), undefined);
});

test('an event is worked off once, and again when the work failed', async () => {
  const filter = createRepetitionFilter(createMemorySeenEvents(3));
  const done: string[] = [];
  const once = (id: string, fails = false) =>
    filter.once({ detail: { event_id: id } }, async () => {
      if (fails) throw new Error('the work failed');
      done.push(id);
    });
  await assert.rejects(once('a', true), /the work failed/);
  assert.deepEqual([await once('a'), await once('a'), await once('b')], [true, false, true]);
  assert.deepEqual([await once('c'), await once('d'), await once('b')], [true, true, false]);
  assert.equal(await once('a'), true, 'the oldest is forgotten');
  assert.deepEqual(done, ['a', 'b', 'c', 'd', 'a']);
});

test('any order of repetitions is each event once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20)), async (ids) => {
      const filter = createRepetitionFilter();
      const done: number[] = [];
      for (const id of ids)
        await filter.once({ detail: { event_id: `${id}` } }, async () => void done.push(id));
      assert.deepEqual(done, [...new Set(ids)]);
    }),
  );
});
