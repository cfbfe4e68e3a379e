/** Each study over HTTP in brief: that it runs and that its figures make sense. How good they are is not judged. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { measureCrowd } from './crowd.ts';
import { measureGreedy } from './greedy.ts';
import { measureInvalidSymbols, victims } from './invalid-symbols.ts';
import type { Sample } from './plan.ts';
import { byCode } from './report.ts';

/** What the load process cannot reach, or the local run does not know, would be studied for nothing. */
function assertAnswered(samples: readonly Sample[]): void {
  for (const { status, code, lateMs, tookMs } of samples) {
    assert.ok([200, 404, 429, 503].includes(status), byCode(samples));
    assert.equal(status === 200, code === undefined);
    assert.ok(lateMs >= 0 && tookMs > 0);
  }
}

describe('a study over HTTP measures what its name says', { concurrent: true }, () => {
  test('crowd', async () => {
    const { run, inDemand, lastNotFullMs, heldFromMs, fullBySecond, soonBySecond } = await measureCrowd({
      clients: 20,
      symbols: 30,
      seconds: 6,
    });
    const { samples: all } = run;
    assertAnswered(all);
    // Each once in five seconds, some a second time.
    assert.ok(all.length >= 20 && all.length < 40, `${all.length}`);
    assert.ok(inDemand > 0 && inDemand <= 30);
    assert.equal(
      lastNotFullMs === undefined,
      all.every(({ isFull }) => isFull),
    );
    assert.ok(all.some(({ isFull, ageSeconds = 0 }) => isFull && ageSeconds > 0));
    assert.ok(heldFromMs > 0);
    assert.equal(fullBySecond.length, 6);
    soonBySecond.forEach((part, second) => {
      assert.ok(part <= fullBySecond[second]!);
    });
  });

  test('greedy', async () => {
    const seconds = { before: 1, beside: 2, after: 0 };
    const { neighbour, greedy } = await measureGreedy({
      neighbour: '127.0.0.1',
      greedyPerSecond: 5,
      seconds,
    });
    assertAnswered([...neighbour, ...greedy]);
    assert.deepEqual([neighbour.length, greedy.length], [2, 15]);
    assert.ok(greedy.some(({ isFull }) => isFull));
  });

  test('invalid symbols', async () => {
    const { invalid, sought, servedAfterMs } = await measureInvalidSymbols({
      victim: victims['other key']!,
      warmSeconds: 1,
      giveUpSeconds: 2,
    });
    assertAnswered(sought);
    assert.ok(invalid.length <= 2);
    assert.equal(servedAfterMs !== undefined, sought.at(-1)?.isFull);
  });
});
