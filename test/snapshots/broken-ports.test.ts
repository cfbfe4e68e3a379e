/** Ports that break their contract: a clock that is wrong, a limiter or an upstream that throws. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { answered, createBench, symbolsOf } from './world/bench.ts';

const symbols = ['S0', 'S1', 'S2'];

test('no instance takes over what one from the future has written', async () => {
  const bench = createBench();
  const ahead = bench.instance(3_600_000);
  const right = bench.instance();
  for (let round = 0; round < 20; round++) {
    await bench.ask(ahead, { symbols });
    const outcome = answered(await bench.ask(right, { symbols }));
    assert.equal(outcome.snapshots.length, symbols.length);
    assert.ok(outcome.ageMs >= 0 && outcome.ageMs < 5000, `${outcome.ageMs}`);
    for (const { sentAt } of outcome.snapshots) assert.ok(sentAt <= bench.time.now());
    await bench.wait(300);
  }
});

test('what one that is seconds ahead has written is as old as the clocks are apart, and not new', async () => {
  const bench = createBench();
  const ahead = bench.instance(10_000);
  const right = bench.instance();
  await bench.ask(ahead, { symbols });
  const outcome = answered(await bench.ask(right, { symbols }));
  assert.ok(outcome.ageMs > 9000, `${outcome.ageMs}`);
});

for (const priority of ['interactive', 'events'] as const)
  test(`leases that are due in an hour by a wrong clock are due now, for ${priority} callers`, async () => {
    const bench = createBench();
    const instances = [bench.instance(), bench.instance()];
    for (const instance of instances) await bench.ask(instance, { symbols });
    await bench.wait(1000);
    await bench.setDue(bench.time.now() + 3_600_000);
    await bench.wait(200);
    assert.deepEqual(symbolsOf(await bench.ask(instances[1]!, { symbols: ['NEW'], priority })), ['NEW']);
    await bench.setDue(bench.time.now() + 3_600_000);
    for (let round = 0; round < 20; round++) {
      await bench.ask(instances[round % 2]!, { symbols, priority });
      await bench.wait(200);
    }
    const { ageMs } = answered(await bench.ask(instances[0]!, { symbols, priority }));
    assert.ok(ageMs < 2000, `${ageMs}`);
  });

for (const port of ['limiter', 'upstream'] as const)
  test(`where the ${port} throws, what is known is served, and it goes on when it is mended`, async () => {
    const bench = createBench();
    const instance = bench.instance();
    await bench.ask(instance, { symbols });
    bench.setBroken(port);
    for (let round = 0; round < 10; round++) {
      assert.deepEqual(symbolsOf(await bench.ask(instance, { symbols })), symbols);
      await bench.wait(500);
    }
    const outcome = await bench.ask(instance, { symbols: ['S9'] });
    assert.equal(outcome.kind, 'unavailable');
    bench.setBroken(undefined);
    await bench.wait(3000);
    assert.deepEqual(symbolsOf(await bench.ask(instance, { symbols: ['S9'] })), ['S9']);
  });
