/** What all callers of a deployment share: few calls for many answers, also by functions that start cold. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { deployedStage, pause } from './deployed-stage.ts';
import { type Stage, snapshots } from './stage.ts';

const plans = { default: { ratePerSecond: 5000, burst: 5000 } };
const paths = [
  '/openapi/market-data/stock/snapshot?symbols=AAPL,MSFT,GOOGL&category=US_STOCK',
  '/openapi/market-data/stock/snapshot?symbols=NVDA,AAPL&category=US_STOCK',
  '/market-data/screeners/top-actives/list?category=US_STOCK',
  '/market-data/fundamentals/company-profiles/get?symbol=AAPL&category=US_STOCK',
];

async function answerTo(stage: Stage, path: string): Promise<void> {
  while ((await stage.call(path)).status !== 200) await pause(500);
}

describe('shared through the stack', needsEmulator(), () => {
  const stage = deployedStage({ props: { plans } });

  test('12 callers of three functions are all answered, by few calls', async () => {
    // A machine that starts 12 functions at once may take longer than a client waits for a first answer.
    await Promise.all(paths.map((path) => answerTo(stage, path)));
    await Promise.all(paths.map((path) => answerTo(stage, path)));
    const profiles = () =>
      stage.simulator.received.filter(({ target }) => target.includes('company-profiles')).length;
    const profilesBefore = profiles();
    const until = Date.now() + 15_000;
    let answered = 0;
    const caller = async (index: number) => {
      while (Date.now() < until) {
        const response = await stage.call(paths[index % paths.length]!);
        assert.equal(response.status, 200, await response.text());
        assert.match(response.headers.get('cache-status') ?? '', /^countersign; /);
        answered++;
        // Twelve callers that never pause show no more, and take the whole machine.
        await pause(100);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, index) => caller(index)));
    const { counts, received } = stage.simulator;
    console.log(`  shared, 12 callers for 15 s: ${answered} answered by ${received.length} calls`);
    assert.deepEqual(Object.keys(counts), ['ok']);
    assert.ok(received.length < 120 && answered > 4 * received.length, `${answered} by ${received.length}`);
    // The first answer may come too late on a busy machine, and is then asked for again: before, not among the callers.
    assert.ok(profilesBefore > 0);
    assert.equal(profiles(), profilesBefore);
  });

  test('what has not changed is 304 to a client that has it', async () => {
    const profile = paths[3]!;
    const first = await stage.call(profile);
    const etag = first.headers.get('etag') ?? '';
    const headers = { 'x-api-key': stage.apiKey, 'if-none-match': etag };
    const again = await stage.call(profile, { headers });
    assert.deepEqual([again.status, await again.text(), again.headers.get('etag')], [304, '', etag]);
  });

  test('new functions serve their first requests from the table', async () => {
    const profile = paths[3]!;
    await stage.update({ plans, functions: { memoryMiB: 1024 } });
    const before = stage.simulator.received.length;
    const response = await stage.call(profile);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('cache-status') ?? '', /^countersign; hit; /);
    assert.equal(stage.simulator.received.length, before);
  });

  test('an upstream that is down does not take away what is known', async () => {
    await stage.call(snapshots);
    await stage.simulator.close();
    await pause(1500);
    const response = await stage.call(snapshots);
    assert.equal(response.status, 200, await response.text());
    assert.ok(Number(response.headers.get('age')) >= 1);
    const other = await stage.call('/openapi/market-data/stock/snapshot?symbols=TSLA&category=US_STOCK');
    assert.equal(other.status, 502);
    assert.equal(((await other.json()) as { code: string }).code, 'upstream_unreachable');
  });
});
