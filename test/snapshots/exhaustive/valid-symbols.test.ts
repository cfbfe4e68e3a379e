/** A symbol that is served goes on being so, whatever the upstream does to a call that it came along with. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { RefreshAnswer, SnapshotCache } from '../../../lib/cache/snapshots/index.ts';
import type { SnapshotCall } from '../../../lib/cache/snapshots/request.ts';
import { viewOfId } from '../../../lib/cache/snapshots/view.ts';
import { answered, createBench, symbolsOf } from '../world/bench.ts';

const symbols = Array.from({ length: 12 }, (_, index) => `S${index}`);
const overnight = viewOfId('US_STOCK+o');
const names = (count: number) => Array.from({ length: count }, (_, index) => `S${index}`);
const answerOf = (some: readonly string[]): RefreshAnswer => ({
  kind: 'answer',
  body: new TextEncoder().encode(
    `[${some.map((symbol) => `{"symbol":"${symbol}","last_trade_time":0}`).join(',')}]`,
  ),
});
const empty = () => answerOf([]);
const refused = (): RefreshAnswer => ({ kind: 'rejected', error: { status: 400, errorCode: 'INVALID' } });

for (const [name, instead] of [
  ['leaves all out', empty],
  ['refuses all', refused],
  ['leaves most out', undefined],
] as const)
  for (const first of ['plain', 'flagged'] as const)
    test(`an upstream that ${name} with a flag, asked ${first} first, harms no request without it`, async () => {
      const some = (asked: readonly string[]) => answerOf(asked.includes('S0') ? ['S0'] : []);
      const bench = createBench({
        unknown: 'leaves-out',
        instead: (view, asked) => (view.id === overnight.id ? (instead ?? (() => some(asked)))() : undefined),
      });
      const instances = [bench.instance(), bench.instance()];
      const plain = { symbols };
      const flagged: Partial<SnapshotCall> = { view: overnight, symbols, caller: 'other' };
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
      // In that view they are unknown in the end, and no request asks again and again.
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

for (const how of ['leaves out', 'refuses'] as const)
  test(`many that are gone at once, of an upstream that ${how}, cost the others little`, async () => {
    const gone = new Set<string>();
    const some = names(30);
    const bench = createBench({
      instead: (_, asked) => {
        const rest = asked.filter((symbol) => !gone.has(symbol));
        return rest.length === asked.length ? undefined : how === 'refuses' ? refused() : answerOf(rest);
      },
    });
    const instances = [bench.instance(), bench.instance()];
    for (const instance of instances) await bench.ask(instance, { symbols: some });
    for (const symbol of some.slice(0, 5)) gone.add(symbol);
    const good = some.slice(5);
    for (let round = 0; round < 150; round++) {
      await bench.ask(instances[round % 2]!, { symbols: some });
      const outcome = answered(await bench.ask(instances[round % 2]!, { symbols: good }));
      assert.ok(outcome.ageMs < 15_000, `${outcome.ageMs}`);
      await bench.wait(220);
    }
    const outcome = answered(await bench.ask(instances[0]!, { symbols: some }));
    assert.deepEqual(outcome.unknown, [...gone]);
    assert.ok(outcome.ageMs < 2000, `${outcome.ageMs}`);
  });

for (const [name, answer] of [
  ['nothing', empty],
  ['a refusal', refused],
] as const)
  for (const of of [['S0'], symbols])
    test(`${name} to every call about ${of.length}, for nine seconds, makes nothing unknown`, async () => {
      let isBad = false;
      const bench = createBench({ instead: () => (isBad ? answer() : undefined) });
      const instances = [bench.instance(), bench.instance()];
      for (const instance of instances) await bench.ask(instance, { symbols: of });
      await bench.wait(1000);
      isBad = true;
      for (let round = 0; round < 36; round++) {
        assert.deepEqual(symbolsOf(await bench.ask(instances[round % 2]!, { symbols: of })), of);
        await bench.wait(250);
      }
      isBad = false;
      for (let round = 0; round < 100; round++) {
        assert.deepEqual(symbolsOf(await bench.ask(instances[round % 2]!, { symbols: of })), of);
        await bench.wait(250);
      }
      assert.deepEqual(symbolsOf(await bench.ask(bench.instance(), { symbols: of })), of);
      assert.ok(answered(await bench.ask(instances[0]!, { symbols: of })).ageMs < 2000);
    });

test('what was served and is refused for longer is unknown for half a minute at first', async () => {
  let isBad = false;
  const bench = createBench({ instead: () => (isBad ? refused() : undefined) });
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['S0'] });
  await bench.wait(1000);
  isBad = true;
  const keepAsking = async (seconds: number) => {
    let last = await bench.ask(instance, { symbols: ['S0'] });
    for (const end = bench.time.now() + seconds * 1000; bench.time.now() < end; await bench.wait(500))
      last = await bench.ask(instance, { symbols: ['S0'] });
    return last;
  };
  assert.equal((await keepAsking(20)).kind, 'refused');
  isBad = false;
  assert.equal((await keepAsking(35)).kind, 'snapshots');
  isBad = true;
  await keepAsking(60);
  isBad = false;
  // It failed once more after that half minute.
  assert.equal((await keepAsking(60)).kind, 'refused');
});

test('an instance that starts while a view is answered with nothing convinces no other instance', async () => {
  let isBad = false;
  const bench = createBench({ instead: (view) => (isBad && view.id === overnight.id ? empty() : undefined) });
  const instances = [bench.instance(), bench.instance()];
  const flagged = { view: overnight, symbols };
  const others = { symbols: names(40).map((name) => `P${name}`) };
  for (const instance of instances) {
    await bench.ask(instance, flagged);
    await bench.ask(instance, others);
  }
  isBad = true;
  const start = bench.time.now();
  let cold: SnapshotCache | undefined;
  for (let round = 0; bench.time.now() - start < 150_000; round++) {
    assert.deepEqual(symbolsOf(await bench.ask(instances[round % 2]!, flagged)), symbols);
    await bench.ask(instances[round % 2]!, others);
    // By then the log does not reach back to what was there before.
    if (bench.time.now() - start > 120_000) cold ??= bench.instance();
    if (cold) await bench.ask(cold, { ...flagged, caller: 'other' });
    await bench.wait(120);
  }
  isBad = false;
  await bench.wait(5000);
  await bench.ask(instances[0]!, flagged);
  for (const instance of [...instances, cold!])
    assert.deepEqual(symbolsOf(await bench.ask(instance, flagged)), symbols);
});

test('what is gone in one view takes nothing from those who bring new symbols, nor from who asked for it', async () => {
  const some = names(100);
  const gone = new Set<string>();
  const bench = createBench({
    instead: (view, asked) =>
      view.id === overnight.id && asked.some((symbol) => gone.has(symbol)) ? refused() : undefined,
  });
  const instances = [bench.instance(), bench.instance()];
  for (const instance of instances) await bench.ask(instance, { view: overnight, symbols: some });
  for (const symbol of some.slice(0, 60)) gone.add(symbol);
  let late = 0;
  for (let round = 0; round < 400; round++) {
    await bench.ask(instances[round % 2]!, { view: overnight, symbols: some, maxAgeMs: 5000 });
    if (round % 8 === 0) {
      const outcome = await bench.ask(instances[round % 2]!, { symbols: [`Q${round}`] });
      assert.ok(outcome.kind !== 'unavailable' || !outcome.isOverQuota);
      if (outcome.kind !== 'snapshots') late++;
    }
    await bench.wait(200);
  }
  assert.ok(late <= 3, `${late} of 50`);
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
  for (let round = 0; round < 120; round++) {
    for (const view of views) await bench.ask(instance, { view, symbols });
    await bench.wait(220);
  }
  for (const view of views) {
    const outcome = answered(await bench.ask(instance, { view, symbols }));
    assert.deepEqual([outcome.unknown, outcome.snapshots.length], [['S3'], symbols.length - 1]);
    assert.ok(outcome.ageMs < 3000);
  }
});

for (const how of ['leaves out', 'refuses'] as const)
  for (const listed of [undefined, { US_STOCK: symbols }])
    test(`a view that loses all its symbols for good, at an upstream that ${how}, ${listed ? 'listed' : 'not listed'}: they are unknown within six minutes, and cost little then`, async () => {
      let isGone = false;
      const answer = how === 'refuses' ? refused : empty;
      const bench = createBench({
        ...(listed && { listed }),
        instead: (view) => (isGone && view.id === overnight.id ? answer() : undefined),
      });
      const instances = [bench.instance(), bench.instance()];
      const ask = (index: number) => bench.ask(instances[index % 2]!, { view: overnight, symbols });
      for (let round = 0; round < 20; round++) {
        assert.equal((await ask(round)).kind, 'snapshots');
        await bench.wait(250);
      }
      isGone = true;
      const goneAt = bench.time.now();
      let last = await ask(0);
      const isOver = () =>
        last.kind === 'refused' || (last.kind === 'snapshots' && last.unknown.length === symbols.length);
      for (let round = 0; !isOver() && bench.time.now() - goneAt < 360_000; round++) {
        await bench.wait(500);
        last = await ask(round);
        assert.notEqual(last.kind === 'unavailable' && last.isOverQuota, true);
      }
      assert.ok(isOver(), last.kind);
      // Each is probed again now and then, and no more.
      const before = bench.calls.length;
      for (let round = 0; round < 60; round++) {
        await ask(round);
        await bench.wait(500);
      }
      const again = bench.calls.slice(before).filter((call) => call.view === overnight.id);
      assert.ok(again.length <= 2 * symbols.length, `${again.length} calls`);
      // Who asks without the flag has noticed nothing.
      assert.deepEqual(symbolsOf(await bench.ask(instances[0]!, { symbols })), symbols);
    });
