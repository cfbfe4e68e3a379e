/**
 * Whatever the interleaving: an answer holds exactly the symbols asked that exist, in the order asked, each
 * no older than it says. Chance decides who asks when for what, where, and what goes wrong meanwhile.
 */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { anyRun, isUnlisted, liveRun } from '../world/interleavings.ts';
import { exists } from '../world/load.ts';
import { madeAt } from '../world/upstream.ts';

test('an answer holds exactly what was asked for and exists, no older than it says', async () => {
  let answered = 0;
  let all = 0;
  await fc.assert(
    fc.asyncProperty(anyRun, async (run) => {
      const faults: string[] = [];
      const open = await liveRun(run, ({ view, symbols }, outcome, now) => {
        all++;
        const mayBeUnknown = (symbol: string) => !exists(symbol) || isUnlisted(run, view, symbol);
        if (outcome.kind === 'snapshots') {
          answered++;
          const unknown = symbols.filter((one) => outcome.unknown.includes(one) && mayBeUnknown(one));
          if (`${outcome.unknown}` !== `${unknown}`) faults.push(`${symbols}: unknown ${outcome.unknown}`);
          const expected = symbols.filter((symbol) => !unknown.includes(symbol));
          if (!expected.every(exists)) faults.push(`${symbols}: not unknown ${expected}`);
          const found = outcome.snapshots.map(({ symbol }) => symbol);
          if (`${found}` !== `${expected}`) faults.push(`${symbols}: got ${found}`);
          for (const { symbol, record, sentAt } of outcome.snapshots) {
            const text = new TextDecoder().decode(record);
            if ((JSON.parse(text) as { symbol: string }).symbol !== symbol)
              faults.push(`${symbol} is ${text}`);
            if (text.includes('extend_hour_') !== view.id.includes('e')) faults.push(`${view.id}: ${text}`);
            const age = now - madeAt(record);
            if (age > outcome.ageMs || now - sentAt > outcome.ageMs) faults.push(`older: ${age}`);
          }
        } else if (outcome.kind === 'refused' && !symbols.every(mayBeUnknown))
          faults.push(`${symbols}: refused`);
      });
      assert.equal(open, 0, 'a request that was never answered');
      assert.deepEqual(faults, []);
    }),
    { numRuns: 150 },
  );
  // The property would hold of a gateway that never has anything, too.
  assert.ok(answered > 0.8 * all, `${answered} of ${all}`);
});
