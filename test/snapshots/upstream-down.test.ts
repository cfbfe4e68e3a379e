/** An upstream that fails before anything is known of a symbol: few calls meanwhile, and none forgets to ask again. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createBench, us } from './world/bench.ts';

for (const downBy of ['error', 'silence'] as const)
  test(`down from the start, by ${downBy}: answers come soon after its return, wherever one asks`, async () => {
    const bench = createBench({ downBy });
    const { time } = bench;
    const old = bench.instance();
    const start = time.now();
    bench.upstream.setDown(true);
    let longest = 0;
    const ask = async (instance: typeof old, symbol: string) => {
      const asked = time.now();
      const { kind } = await instance.ask(us({ symbols: [symbol] }));
      longest = Math.max(longest, time.now() - asked);
      return kind;
    };
    const during: string[] = [];
    // Many that ask, each for something else, and one that asks for the same again and again.
    for (let at = 0; at < 10_000; at += 200)
      for (const symbol of ['A', `S${at}`])
        time.after(at, async () => void during.push(await ask(old, symbol)));
    await bench.wait(10_000);
    // No instance can know of a silence before the first request has waited in vain.
    assert.ok(
      bench.calls.length <= (downBy === 'silence' ? 16 : 10),
      `${bench.calls.length} calls while it was down`,
    );
    bench.upstream.setDown(false);
    const answeredAt = new Map<string, number>();
    for (const [name, instance] of [
      ['old', old],
      ['new', bench.instance()],
    ] as const)
      for (let at = 0; at < 10_000; at += 200)
        time.after(at, async () => {
          const kind = await ask(instance, name);
          if (kind === 'snapshots' && !answeredAt.has(name))
            answeredAt.set(name, time.now() - start - 10_000);
        });
    await bench.wait(15_000);
    for (const name of ['old', 'new'])
      assert.ok(
        (answeredAt.get(name) ?? Number.POSITIVE_INFINITY) <= 5000,
        `${name}: ${answeredAt.get(name)}`,
      );
    assert.equal(during.length, 100);
    assert.ok(longest <= 5000, `${longest}`);
  });
