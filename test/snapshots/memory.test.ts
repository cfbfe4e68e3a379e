/** What an instance holds is bounded, and invalid symbols evict no entry in use. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { maxEntries } from '../../lib/cache/snapshots/entries.ts';
import { maxNegative } from '../../lib/cache/snapshots/failed-symbols.ts';
import { SnapshotMemory } from '../../lib/cache/snapshots/memory.ts';
import { planRefresh } from '../../lib/cache/snapshots/plan.ts';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/ports.ts';
import type { RefreshRecord } from '../../lib/cache/snapshots/store.ts';

const start = 1_795_239_000_000;
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function createFed() {
  const memory = new SnapshotMemory(defaultSnapshotOptions);
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

test('invalid symbols, refused or left out, evict no entry and no valid symbol', () => {
  const { memory, feed, answer, now } = createFed();
  const used = names('S', 30);
  answer(used);
  for (let round = 0; round < 200; round++) {
    answer([], names(`0L${round}-`, 60));
    const error = { status: 417, message: 'not known' };
    feed({ symbols: names(`0R${round}-`, 64), outcome: { kind: 'rejected', error }, caller: 'one' });
    for (const symbol of names(`0A${round}-`, 60)) memory.countNegativeHit('US_STOCK', symbol, now());
  }
  const symbols = memory.statusIn('US_STOCK');
  const inUse = new Set(
    memory
      .entriesOf('US_STOCK')
      .inUse(now())
      .map(({ symbol }) => symbol),
  );
  for (const symbol of used) assert.ok(symbols.exists(symbol) && inUse.has(symbol), symbol);
  assert.ok(symbols.suspectGroups(now()).length <= maxNegative);
  const unknown = Array.from({ length: 200 }, (_, round) => names(`0L${round}-`, 60)).flat();
  const held = unknown.filter((symbol) => memory.negativeEntry('US_STOCK', symbol, now()));
  assert.ok(held.length <= maxNegative, `${held.length}`);
});

test('of more entries than fit, those stay that clients request and instances refresh', () => {
  const { memory, answer, now } = createFed();
  const used = names('S', 12_000);
  const view = memory.entriesOf('US_STOCK');
  for (let round = 0; round < 4; round++) {
    answer(used);
    for (const symbol of used) view.countRequest(symbol, now());
    answer(names(`T${round}-`, 6000));
    view.inUse(now());
  }
  for (const symbol of used)
    assert.ok(view.entries.has(symbol) && memory.statusIn('US_STOCK').exists(symbol), symbol);
  assert.ok(view.entries.size <= maxEntries, `${view.entries.size}`);
});

test('what was served and has just gone is in no checkpoint: it counts as unknown for half a minute at first', () => {
  const { memory, feed, answer, now } = createFed();
  answer(['S', 'T']);
  const error = { status: 417, message: 'not known' };
  for (const sentAt of [start + 1000, start + 12_000])
    feed({ sentAt, symbols: ['S'], outcome: { kind: 'rejected', error } });
  answer([], ['0X']);
  assert.ok(memory.negativeEntry('US_STOCK', 'S', now())?.isFirst);
  assert.deepEqual(
    memory.createCheckpoint(9, now()).negative.map(([, symbol]) => symbol),
    ['0X'],
  );
});

test('a probe in the place of a refresh asks in the view that is refreshed, for the caller that brought the symbols', () => {
  const { memory, feed, now } = createFed();
  const records = new Map(['S', 'T'].map((symbol) => [symbol, new Uint8Array(1)]));
  // As an instance begins: both are served with extended hours, and suspect there.
  memory.load(
    {
      sequence: 1,
      at: start,
      fetched: [{ view: 'US_STOCK+e', sentAt: start, records, isSuspect: true }],
      demand: [],
      negative: [],
      recent: [],
      failedProbes: [],
    },
    now(),
  );
  const error = { status: 417, message: 'not known' };
  feed({ symbols: ['S', 'T'], outcome: { kind: 'rejected', error }, caller: 'one' });
  feed({ kind: 'miss', outcome: { kind: 'forbidden', error, until: start + 60_000 } });
  assert.deepEqual(planRefresh({ memory, flights: [], misses: [], now: now() }), {
    kind: 'probe',
    view: 'US_STOCK+e',
    symbols: ['S'],
    sibling: ['T'],
    caller: 'one',
  });
});
