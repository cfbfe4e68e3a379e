/** Records in columns come back byte for byte, and take less of the table; the studies' records are like the simulator's. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { compress } from '../../functions/aws/brotli.ts';
import { fromColumns, toColumns } from '../../functions/aws/snapshot-columns.ts';
import { market } from '../../infra/simulator/behaviours/market.ts';
import { createUniverse } from '../../infra/simulator/market/universe.ts';
import { createWorld } from '../../infra/simulator/world.ts';
import { joinRecords } from '../../lib/cache/snapshots/records.ts';
import { viewOfId } from '../../lib/cache/snapshots/view.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createRandom } from '../world/random.ts';
import { VirtualTime } from '../world/virtual-time.ts';
import { nameOf } from './world/load.ts';
import { createVirtualUpstream } from './world/upstream.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (record: Uint8Array) => new TextDecoder().decode(record);

/** With quotation marks in any number, line ends, and bytes that are no text. */
const anyRecord = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
  fc
    .string({ unit: fc.constantFrom('"', '\n', 'a', '1', '\\', 'é'), minLength: 1, maxLength: 20 })
    .map(bytes),
  fc.nat(3).map((price) => bytes(`{"symbol":"AAPL","price":"${price}","note":null}`)),
);

test('any records come back byte for byte, those with as many quotation marks together', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 12 }), (records) => {
      const quotes = (record: Uint8Array) => record.filter((byte) => byte === 0x22).length;
      const counts = [...new Set(records.map(quotes))];
      const inBlocks = counts.flatMap((count) => records.filter((record) => quotes(record) === count));
      assert.deepEqual(Buffer.from(fromColumns(toColumns(records))), Buffer.from(joinRecords(inBlocks)));
    }),
    { numRuns: 500 },
  );
});

test('columns that are cut short are no records', () => {
  const whole = toColumns([bytes('{"a":"1"}'), bytes('{"a":"2"}')]);
  assert.throws(() => fromColumns(whole.subarray(0, whole.length - 4)));
  assert.throws(() => fromColumns(bytes('[{"symbol":"AAPL"}]')));
});

/** A hundred stocks, as the simulator has them. */
function simulated(flags: readonly string[]): readonly Uint8Array[] {
  const now = Date.parse('2026-11-20T15:00:00Z');
  const stocks = [...createUniverse(1).values()].filter(({ category }) => category === 'US_STOCK');
  const symbols = stocks.slice(0, 100).map(({ symbol }) => symbol);
  const query = {
    symbols: symbols.join(','),
    category: 'US_STOCK',
    ...Object.fromEntries(flags.map((flag) => [flag, 'true'])),
  };
  const operation = operations.find(({ id }) => id === 'getStockSnapshots')!;
  const reply = market.getStockSnapshots!({ operation, query, body: undefined, now }, createWorld(1));
  assert.ok(reply.ok);
  return (reply.payload as readonly object[]).map((record) => bytes(JSON.stringify(record)));
}

async function studied(view: string): Promise<readonly Uint8Array[]> {
  const time = new VirtualTime();
  const upstream = createVirtualUpstream(time, createRandom(1), { exists: () => true });
  const symbols = Array.from({ length: 100 }, (_, rank) => nameOf('US_STOCK', rank));
  const permit = { expiresAt: time.now() + 250, consume: () => true };
  const asked = upstream.ask(viewOfId(view), symbols, permit, 3000);
  await time.runUntil(time.now() + 3000);
  const answer = await asked;
  assert.ok(answer.kind === 'answer');
  return (JSON.parse(text(answer.body)) as readonly object[]).map((record) => bytes(JSON.stringify(record)));
}

test('in columns, a hundred snapshots take two thirds of the bytes', () => {
  const records = simulated([]);
  const packed = compress(toColumns(records)).length;
  const before = compress(joinRecords(records)).length;
  assert.ok(packed < 0.67 * before, `${packed} bytes, ${before} before`);
});

for (const [view, flags] of [
  ['US_STOCK', []],
  ['US_STOCK+e', ['extend_hour_required']],
  ['US_STOCK+eo', ['extend_hour_required', 'overnight_required']],
] as const)
  test(`the studies’ records have the simulator’s members and size: ${view}`, async () => {
    const [ours, theirs] = [await studied(view), simulated(flags)];
    const membersOf = ([record]: readonly Uint8Array[]) => Object.keys(JSON.parse(text(record!)) as object);
    assert.deepEqual(membersOf(ours).sort(), membersOf(theirs).sort());
    for (const size of [
      (records: readonly Uint8Array[]) => joinRecords(records).length,
      (records: readonly Uint8Array[]) => compress(toColumns(records)).length,
    ])
      assert.ok(Math.abs(size(ours) / size(theirs) - 1) < 0.1, `${size(ours)} bytes, not ${size(theirs)}`);
  });
