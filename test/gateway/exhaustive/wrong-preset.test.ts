/** A deployment whose limits are wider than the upstream's: one refusal, a pause, and then none. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { runWrongPreset } from '../wrong-preset.ts';

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('300 a minute are configured', () => {
  for (const [allowed, perMinute] of [
    ['published', 60],
    ['published-sandbox', 30],
  ] as const)
    test(`and the upstream allows ${perMinute} to each endpoint: quiet from the first refusal on`, async () => {
      const { minutes, reports } = await runWrongPreset({ configured: 'interface', allowed, minutes: 5 });
      assert.ok(sum(minutes.map(({ rateLimited }) => rateLimited)) <= 2, JSON.stringify(reports));
      assert.equal(sum(minutes.slice(1).map(({ rateLimited }) => rateLimited)), 0);
      assert.deepEqual(
        [...new Set(reports.map(({ verdict, kept }) => `${verdict} ${kept}`))],
        [`tightened ${allowed}`],
      );
      // From the third minute on at the pace of the tighter limit.
      for (const { sent, asked, answered, ages } of minutes.slice(2)) {
        assert.ok(sent > 0.7 * perMinute, `${sent} sent`);
        assert.ok(answered / asked > 0.99, `${answered} of ${asked}`);
        assert.ok(Math.max(...ages) <= 15, `${Math.max(...ages)} s old`);
      }
    });

  // By the seed, the instance that is refused then knows of the end already, or still keeps the tighter limits.
  for (const seed of [1, 3])
    test(`and an operator ends the tighter limits too early: one more refusal, seed ${seed}`, async () => {
      const { minutes, reports } = await runWrongPreset({
        configured: 'interface',
        allowed: 'published',
        minutes: 6,
        resetAt: 3,
        seed,
      });
      assert.ok(sum(minutes.map(({ rateLimited }) => rateLimited)) <= 3, JSON.stringify(reports));
      assert.ok(sum(minutes.slice(3).map(({ rateLimited }) => rateLimited)) >= 1);
      assert.deepEqual([...new Set(reports.map(({ kept }) => kept))], ['published']);
    });
});

test('others use the app key up to its limit: never two refusals in one minute', async () => {
  const { minutes, reports } = await runWrongPreset({
    configured: 'published-sandbox',
    allowed: 'published',
    others: 55,
    minutes: 5,
  });
  for (const { rateLimited } of minutes) assert.ok(rateLimited <= 2, `${rateLimited}`);
  assert.ok(reports.length > 0);
  for (const { verdict, kept } of reports)
    assert.deepEqual([verdict, kept], ['none_tighter', 'published-sandbox']);
});
