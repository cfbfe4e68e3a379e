/** What an instance takes over from the checkpoint of another, and how it does without one. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { viewOfId } from '../../../lib/cache/snapshots/view.ts';
import { answered, createBench, symbolsOf } from '../world/bench.ts';

const others = ['A', 'C', 'D', 'E'];

test('a symbol that was delisted does not come back with a checkpoint that was made before', async () => {
  const gone = new Set<string>();
  const bench = createBench({ exists: (symbol) => !gone.has(symbol) });
  const instance = bench.instance();
  const ask = () => bench.ask(instance, { symbols: [...others, 'B'] });
  for (let time = 0; time < 25_000; time += 250) {
    await ask();
    await bench.wait(250);
  }
  gone.add('B');
  let isUnknown = false;
  for (let steps = 0; steps < 400 && !isUnknown; steps++) {
    await bench.wait(250);
    isUnknown = answered(await ask()).unknown.includes('B');
  }
  assert.ok(isUnknown);
  for (let pauses = 0; pauses < 4; pauses++) {
    // So long that the instance begins again.
    await bench.wait(2200);
    assert.deepEqual(answered(await ask()).unknown, ['B'], `after pause ${pauses}`);
  }
});

test('a suspect symbol is probed alone by an instance that begins with a checkpoint', async () => {
  const gone = new Set<string>();
  const bench = createBench({ exists: (symbol) => !gone.has(symbol) });
  const first = bench.instance();
  const symbols = [...others, 'B', 'F', 'G', 'H'];
  for (let time = 0; time < 25_000; time += 250) {
    await bench.ask(first, { symbols });
    await bench.wait(250);
  }
  gone.add('B');
  // Until it failed alone for the first time, and into the time in which it is put off.
  for (let steps = 0; steps < 400; steps++) {
    await bench.wait(250);
    await bench.ask(first, { symbols });
    const last = bench.calls.at(-1);
    if (
      bench.calls.some(
        ({ symbols: [only, ...more], kind }) => only === 'B' && more.length === 0 && kind === 'rejected',
      ) &&
      last
    )
      break;
  }
  // A checkpoint that is made meanwhile.
  for (let time = 0; time < 9_000; time += 1500) {
    const before = bench.calls.length;
    await bench.wait(1500);
    const instance = bench.instance();
    for (let steps = 0; steps < 6; steps++) {
      await bench.ask(instance, { symbols: others });
      await bench.wait(210);
    }
    const rejected = bench.calls
      .slice(before)
      .filter(({ kind, symbols }) => kind === 'rejected' && symbols.length > 1);
    assert.deepEqual(rejected, []);
  }
});

test('what failed is forgiven while instances begin with checkpoints', async () => {
  const bench = createBench();
  const first = bench.instance();
  const askForInvalid = (instance: typeof first, name: string) =>
    bench.ask(instance, { symbols: [`0${name}`], caller: 'bad' });
  const isSpent = async (instance: typeof first, name: string) => {
    const outcome = await askForInvalid(instance, name);
    return outcome.kind === 'unavailable' && outcome.isOverQuota;
  };
  for (let index = 0; index < 40; index++) {
    await askForInvalid(first, `X${index}`);
    await bench.ask(first, { symbols: others });
  }
  assert.equal(await isSpent(first, 'X'), true);
  for (let time = 0; time < 240_000; time += 9_600) {
    await bench.wait(9000);
    const next = bench.instance();
    for (let steps = 0; steps < 2; steps++) {
      await bench.ask(next, { symbols: others });
      await bench.wait(300);
    }
  }
  // Eight a minute are forgiven, so that all are by now.
  const last = bench.instance();
  let tests = 0;
  while (tests < 40 && !(await isSpent(last, `Y${tests}`))) tests++;
  assert.ok(tests >= 25, `${tests} tests after four minutes`);
});

for (const operation of ['countStart', 'readCheckpoint'] as const)
  test(`a store in which ${operation} alone fails is not away: an instance begins with the log`, async () => {
    const bench = createBench();
    const first = bench.instance();
    await bench.ask(first, { symbols: others });
    bench.breakInStore(operation);
    const before = bench.calls.length;
    assert.deepEqual(symbolsOf(await bench.ask(bench.instance(), { symbols: others })), others);
    assert.ok(bench.calls.length <= before + 1);
    for (let count = 0; count < 8; count++) await bench.ask(bench.instance(), { symbols: others });
    // Alone, each would ask the upstream for itself.
    assert.ok(bench.calls.length <= before + 2, `${bench.calls.length - before} calls`);
  });

test('a store in which misses or checkpoints alone fail is not away: one asks the upstream for both', async () => {
  const bench = createBench();
  bench.breakInStore('writeMisses', 'readMisses', 'writeCheckpoint', 'countStart', 'readCheckpoint');
  const [one, other] = [bench.instance(), bench.instance()];
  for (let round = 0; round < 20; round++) {
    const symbols = [...others, `S${round}`];
    assert.deepEqual(symbolsOf(await bench.ask(one, { symbols })), symbols);
    await bench.wait(100);
    assert.notEqual(answered(await bench.ask(other, { symbols })).from, 'own-call');
  }
});

test('what is not asked for any more is no reason to read a checkpoint again', async () => {
  const bench = createBench();
  const first = bench.instance();
  const passing = Array.from({ length: 60 }, (_, index) => `P${index}`);
  await bench.ask(first, { symbols: passing });
  for (let time = 0; time < 330_000; time += 500) {
    await bench.ask(first, { symbols: others });
    await bench.wait(500);
  }
  const second = bench.instance();
  await bench.ask(second, { symbols: others });
  const { readCheckpoint: before = 0 } = bench.operations();
  for (let round = 0; round < 40; round++) {
    await bench.ask(second, { symbols: [...others, `N${round}`] });
    await bench.wait(500);
  }
  const { readCheckpoint: after = 0 } = bench.operations();
  assert.equal(after - before, 0);
});

test('an instance that begins with a checkpoint leaves an upstream alone that asked for it', async () => {
  let isDown = false;
  const bench = createBench({
    instead: () => (isDown ? { kind: 'failed', retryAfterMs: 60_000 } : undefined),
  });
  const first = bench.instance();
  await bench.ask(first, { symbols: others });
  await bench.wait(25_000);
  isDown = true;
  await bench.ask(first, { symbols: others });
  await bench.wait(1000);
  const before = bench.calls.length;
  for (let count = 0; count < 5; count++) {
    await bench.ask(bench.instance(), { symbols: others });
    await bench.wait(10_500);
  }
  assert.equal(bench.calls.length - before, 0);
});

test('an instance that begins with a checkpoint knows which view is forbidden', async () => {
  const bench = createBench({ deniedFlag: 'overnight_required' });
  const first = bench.instance();
  const overnight = { view: viewOfId('US_STOCK+o'), symbols: others };
  await bench.ask(first, { symbols: others });
  await bench.wait(25_000);
  assert.equal((await bench.ask(first, overnight)).kind, 'refused');
  // The next leases write a checkpoint.
  for (let count = 0; count < 8; count++) {
    await bench.ask(first, { symbols: others });
    await bench.wait(250);
  }
  const before = bench.calls.filter(({ kind }) => kind === 'forbidden').length;
  for (let count = 0; count < 5; count++)
    assert.equal((await bench.ask(bench.instance(), overnight)).kind, 'refused');
  assert.equal(bench.calls.filter(({ kind }) => kind === 'forbidden').length, before);
});
