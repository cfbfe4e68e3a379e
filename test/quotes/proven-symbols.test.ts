/** A symbol that is served goes on being so, whatever the upstream does to a call that it came along with. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QuoteCall, UpstreamAnswer } from '../../lib/gateway/quotes/index.ts';
import { viewOfId } from '../../lib/gateway/quotes/view.ts';
import { answered, createBench, symbolsOf } from './world/bench.ts';

const symbols = Array.from({ length: 12 }, (_, index) => `S${index}`);
const overnight = viewOfId('US_STOCK+o');
const empty = (): UpstreamAnswer => ({ kind: 'answer', body: new TextEncoder().encode('[]') });
const refused = (): UpstreamAnswer => ({ kind: 'rejected', says: { status: 400, errorCode: 'INVALID' } });

for (const [name, instead] of [
  ['leaves all out', empty],
  ['refuses all', refused],
  ['leaves most out', undefined],
] as const)
  for (const first of ['plain', 'flagged'] as const)
    test(`an upstream that ${name} with a flag, asked ${first} first, harms nobody without it`, async () => {
      const record = (symbol: string) => `{"symbol":"${symbol}","last_trade_time":0}`;
      const some = (asked: readonly string[]): UpstreamAnswer => ({
        kind: 'answer',
        body: new TextEncoder().encode(`[${asked.includes('S0') ? record('S0') : ''}]`),
      });
      const bench = createBench({
        unknown: 'leaves-out',
        instead: (view, asked) => (view.id === overnight.id ? (instead ?? (() => some(asked)))() : undefined),
      });
      const instances = [bench.instance(), bench.instance()];
      const plain = { symbols };
      const flagged: Partial<QuoteCall> = { view: overnight, symbols, caller: 'other' };
      if (first === 'plain') assert.deepEqual(symbolsOf(await bench.ask(instances[0]!, plain)), symbols);
      for (let round = 0; round < 30; round++) {
        await bench.ask(instances[round % 2]!, flagged);
        const outcome = await bench.ask(instances[(round + 1) % 2]!, plain);
        assert.deepEqual(symbolsOf(outcome), symbols);
        assert.ok(
          answered(outcome).ageMs < (round === 0 ? 4500 : 3000),
          `round ${round}: ${answered(outcome).ageMs} ms`,
        );
        await bench.wait(200);
      }
      // In that view they are unknown in the end, and nobody asks again and again.
      const before = bench.calls.length;
      const last = await bench.ask(instances[0]!, flagged);
      assert.notEqual(last.kind, 'unavailable');
      for (let round = 0; round < 10; round++) await bench.ask(instances[round % 2]!, flagged);
      const again = bench.calls.slice(before).filter((call) => call.view === overnight.id);
      assert.ok(
        again.every((call) => instead === undefined && call.symbols.join() === 'S0'),
        `${again.length}`,
      );
      assert.deepEqual(symbolsOf(await bench.ask(bench.instance(), plain)), symbols);
    });

for (const [name, answer] of [
  ['nothing at all', empty],
  ['a refusal', refused],
] as const)
  test(`one answer of ${name} to a refresh makes nothing unknown`, async () => {
    let left = 0;
    const bench = createBench({ instead: () => (left-- > 0 ? answer() : undefined) });
    const instances = [bench.instance(), bench.instance()];
    for (const instance of instances) await bench.ask(instance, { symbols });
    for (const of of [symbols, ['S0'], ['S0', 'S1']]) {
      left = 1;
      for (let round = 0; round < 40; round++) {
        const outcome = await bench.ask(instances[round % 2]!, { symbols: of });
        assert.deepEqual(symbolsOf(outcome), of);
        assert.ok(answered(outcome).ageMs < 8000, `${answered(outcome).ageMs}`);
        await bench.wait(220);
      }
      assert.ok(left <= 0);
      assert.deepEqual(symbolsOf(await bench.ask(bench.instance(), { symbols })), symbols);
    }
    assert.ok(answered(await bench.ask(instances[0]!, { symbols })).ageMs < 3000);
  });

test('nothing at all, for a while and to every call: memory serves, and it is as before at the end', async () => {
  let isEmpty = false;
  const bench = createBench({ instead: () => (isEmpty ? empty() : undefined) });
  const instance = bench.instance();
  await bench.ask(instance, { symbols });
  isEmpty = true;
  const before = bench.calls.length;
  for (let second = 0; second < 60; second++) {
    assert.deepEqual(symbolsOf(await bench.ask(instance, { symbols })), symbols);
    await bench.wait(1000);
  }
  assert.ok(bench.calls.length - before <= 30, `${bench.calls.length - before} calls`);
  isEmpty = false;
  await bench.wait(5000);
  await bench.ask(instance, { symbols });
  assert.ok(answered(await bench.ask(instance, { symbols })).ageMs < 1000);
});

test('a symbol that is gone is unknown in each view once it was refused there alone', async () => {
  const gone = new Set<string>();
  const bench = createBench({
    unknown: 'refuses',
    instead: (_, asked) => (asked.some((one) => gone.has(one)) ? refused() : undefined),
  });
  const instance = bench.instance();
  const views = [viewOfId('US_STOCK'), overnight];
  for (const view of views) await bench.ask(instance, { view, symbols });
  gone.add('S3');
  for (let round = 0; round < 60; round++) {
    for (const view of views) await bench.ask(instance, { view, symbols });
    await bench.wait(220);
  }
  for (const view of views) {
    const outcome = answered(await bench.ask(instance, { view, symbols }));
    assert.deepEqual([outcome.unknown, outcome.quotes.length], [['S3'], symbols.length - 1]);
    assert.ok(outcome.ageMs < 3000);
  }
});
