/** Symbols that do not exist: found at the cost of few calls, and of no other caller's symbols. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { viewOf } from '../../lib/cache/snapshots/view.ts';
import { each } from '../support/each.ts';
import { snapshotResponse } from '../support/snapshot-response.ts';
import { answered, createBench, symbolsOf } from './world/bench.ts';

test('an unknown symbol is left out and named; asked for alone, it is refused as the upstream does', async () => {
  for (const unknown of ['refuses-naming', 'refuses', 'leaves-out'] as const) {
    const bench = createBench({ unknown });
    const instance = bench.instance();
    const symbols = [...Array.from({ length: 30 }, (_, index) => `S${index}`), '0X'];
    const outcome = answered(await bench.ask(instance, { symbols: symbols.toReversed() }));
    assert.deepEqual(each(outcome.snapshots, 'symbol'), symbols.slice(0, -1).toReversed());
    assert.deepEqual(outcome.unknown, ['0X']);
    assert.equal(snapshotResponse(outcome, {}).headers['x-unknown-symbols'], '0X');
    const before = bench.calls.length;
    const alone = await bench.ask(instance, { symbols: ['0X'] });
    if (unknown === 'leaves-out') assert.deepEqual(symbolsOf(alone), []);
    else assert.ok(alone.kind === 'refused' && alone.error.errorCode === 'INVALID_SYMBOL');
    // It is remembered, by other instances and in other views too.
    const view = viewOf([
      ['category', 'US_STOCK'],
      ['extend_hour_required', 'true'],
    ]);
    assert.notEqual((await bench.ask(bench.instance(), { view, symbols: ['0X'] })).kind, 'unavailable');
    assert.ok(bench.calls.slice(before).every(({ symbols: asked }) => !asked.includes('0X')));
    assert.ok(before <= 16, `${before} calls`);
  }
});

test('valid symbols and those of unknown status are never asked for together', async () => {
  const bench = createBench();
  const instance = bench.instance();
  const valid = Array.from({ length: 60 }, (_, index) => `S${index}`);
  await bench.ask(instance, { symbols: valid });
  for (let round = 0; round < 20; round++)
    await bench.ask(instance, { symbols: ['S1', `N${round}`, `0X${round}`, `S${round + 20}`] });
  const seen = new Set<string>();
  for (const { symbols, kind } of bench.calls) {
    const isMixed = symbols.some((one) => seen.has(one)) && symbols.some((one) => !seen.has(one));
    assert.ok(!isMixed, symbols.join());
    if (kind === 'answer') for (const symbol of symbols) seen.add(symbol);
  }
});

test('a hint that is wrong costs a call, not a symbol', async () => {
  // The message always names the first symbol, which exists.
  const bench = createBench({ misleading: true });
  const instance = bench.instance();
  const outcome = await bench.ask(instance, { symbols: ['A', 'B', 'C', 'D', 'E', '0X', '0Y'] });
  assert.deepEqual(symbolsOf(outcome), ['A', 'B', 'C', 'D', 'E']);
});

test('a refusal that passes makes no symbol unknown', async () => {
  const bench = createBench({ unknown: 'refuses' });
  const instance = bench.instance();
  bench.refuseNext(1);
  const symbols = Array.from({ length: 16 }, (_, index) => `S${index}`);
  assert.deepEqual(symbolsOf(await bench.ask(instance, { symbols })), symbols);
});

test('a name that is too long for a symbol is unknown without asking', async () => {
  const bench = createBench();
  const outcome = await bench.ask(bench.instance(), { symbols: ['A', 'X'.repeat(33)] });
  assert.deepEqual(symbolsOf(outcome), ['A']);
  assert.ok(bench.calls.every(({ symbols }) => symbols.every((one) => one.length <= 32)));
});
