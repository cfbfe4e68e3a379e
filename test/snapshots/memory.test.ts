/** What an instance keeps is bounded, and junk drives out nothing that is in use. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { SnapshotMemory } from '../../lib/cache/snapshots/memory.ts';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/options.ts';
import type { RefreshRecord } from '../../lib/cache/snapshots/store.ts';

const start = 1_795_239_000_000;
const options = { ...defaultSnapshotOptions, maxEntries: 50, maxNegative: 20 };
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function createFed() {
  const memory = new SnapshotMemory(options);
  let sequence = 0;
  const feed = (change: Partial<RefreshRecord>) => {
    const record = {
      sequence: ++sequence,
      kind: 'probe',
      view: 'US_STOCK',
      symbols: [],
      demand: [],
    } as const;
    const outcome = { kind: 'answer', records: new Map(), unknown: [] } as const;
    memory.apply({ ...record, sentAt: start + sequence, outcome, ...change }, start + sequence);
  };
  const answer = (symbols: readonly string[], unknown: readonly string[] = []) => {
    const records = new Map(symbols.map((symbol) => [symbol, new Uint8Array(1)]));
    feed({ symbols: [...symbols, ...unknown], outcome: { kind: 'answer', records, unknown } });
  };
  return { memory, feed, answer, now: () => start + sequence };
}

test('junk, refused or left out, drives out no quote and no proof', () => {
  const { memory, feed, answer, now } = createFed();
  const used = names('S', 30);
  answer(used);
  for (let round = 0; round < 200; round++) {
    answer([], names(`0L${round}-`, 5));
    const says = { status: 417, message: 'not known' };
    feed({ symbols: names(`0R${round}-`, 8), outcome: { kind: 'rejected', error: says }, caller: 'one' });
    for (const symbol of names(`0A${round}-`, 50)) memory.countNegativeHit('US_STOCK', symbol, now());
  }
  const symbols = memory.statusIn('US_STOCK');
  const lines = new Set(
    memory
      .entriesOf('US_STOCK')
      .inUse(now())
      .map(({ symbol }) => symbol),
  );
  for (const symbol of used) assert.ok(symbols.exists(symbol) && lines.has(symbol), symbol);
  assert.ok(symbols.suspectGroups(now()).length <= options.maxNegative);
  const unknown = Array.from({ length: 200 }, (_, round) => names(`0L${round}-`, 5)).flat();
  const kept = unknown.filter((symbol) => memory.negativeEntry('US_STOCK', symbol, now()));
  assert.ok(kept.length <= options.maxNegative, `${kept.length}`);
});

test('of more quotes than are kept, those stay that are asked for and refreshed', () => {
  const { memory, answer, now } = createFed();
  const used = names('S', 30);
  const sheet = memory.entriesOf('US_STOCK');
  for (let round = 0; round < 40; round++) {
    answer(used);
    for (const symbol of used) sheet.countRequest(sheet.entries.get(symbol)!, now());
    answer(names(`T${round}-`, 15));
    sheet.inUse(now());
  }
  for (const symbol of used)
    assert.ok(sheet.entries.has(symbol) && memory.statusIn('US_STOCK').exists(symbol), symbol);
  assert.ok(sheet.entries.size <= options.maxEntries, `${sheet.entries.size}`);
});
