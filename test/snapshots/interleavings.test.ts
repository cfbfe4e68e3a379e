/**
 * Whatever the interleaving: an answer holds exactly the symbols asked that exist, in the order asked, each
 * no older than it says. Chance decides who asks when for what, where, and what goes wrong meanwhile.
 */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { viewOfId } from '../../lib/cache/snapshots/view.ts';
import { createBench, us } from './world/bench.ts';
import { exists } from './world/load.ts';
import { madeAt } from './world/upstream.ts';

const names = [...Array.from({ length: 12 }, (_, index) => `S${index}`), '0A', '0B', '0C'];

const request = fc.record({
  kind: fc.constant('request' as const),
  at: fc.integer({ min: 0, max: 20_000 }),
  instance: fc.nat({ max: 4 }),
  view: fc.constantFrom('US_STOCK', 'US_STOCK', 'US_STOCK+e', 'US_ETF'),
  symbols: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 8 }),
  caller: fc.constantFrom('one', 'two'),
  priority: fc.constantFrom('interactive' as const, 'events' as const),
  maxAgeMs: fc.option(fc.constantFrom(0, 1000, 5000), { nil: undefined }),
});

const trouble = fc.record({
  kind: fc.constantFrom(
    'down' as const,
    'closed' as const,
    'away' as const,
    'lost' as const,
    'emptied' as const,
    'restart' as const,
  ),
  at: fc.integer({ min: 0, max: 20_000 }),
  forMs: fc.integer({ min: 10, max: 5000 }),
  instance: fc.nat({ max: 4 }),
});

const run = fc.record({
  seed: fc.integer(),
  unknown: fc.constantFrom('refuses-naming' as const, 'refuses' as const, 'leaves-out' as const),
  requests: fc.array(request, { minLength: 1, maxLength: 40 }),
  troubles: fc.array(trouble, { maxLength: 5 }),
});

test('an answer holds exactly what was asked for and exists, no older than it says', async () => {
  let answered = 0;
  let all = 0;
  await fc.assert(
    fc.asyncProperty(run, async ({ seed, unknown, requests, troubles }) => {
      const bench = createBench({ seed, unknown });
      const instances = Array.from({ length: 5 }, bench.instance);
      const { time } = bench;
      let open = requests.length;
      const faults: string[] = [];
      for (const { at, forMs, kind, instance } of troubles)
        time.after(at, () => {
          if (kind === 'lost') bench.loseNextWrite();
          if (kind === 'emptied') bench.emptyStore();
          if (kind === 'restart') instances[instance] = bench.instance();
          if (kind === 'down') {
            bench.upstream.setDown(true);
            time.after(forMs, () => bench.upstream.setDown(false));
          }
          if (kind === 'away') {
            bench.setStoreAway(true);
            time.after(forMs, () => bench.setStoreAway(false));
          }
          if (kind === 'closed') {
            bench.permits.setOpen(false);
            time.after(forMs, () => bench.permits.setOpen(true));
          }
        });
      for (const { at, instance, view, symbols, caller, priority, maxAgeMs } of requests)
        time.after(at, async () => {
          const call = us({
            view: viewOfId(view),
            symbols,
            caller,
            priority,
            ...(maxAgeMs !== undefined && { maxAgeMs }),
          });
          const outcome = await instances[instance]!.ask(call);
          open--;
          all++;
          const expected = symbols.filter(exists);
          if (outcome.kind === 'snapshots') {
            answered++;
            const found = outcome.snapshots.map(({ symbol }) => symbol);
            if (`${found}` !== `${expected}`) faults.push(`${symbols}: got ${found}`);
            const strange = symbols.filter((symbol) => !exists(symbol));
            if (`${outcome.unknown}` !== `${strange}`) faults.push(`${symbols}: unknown ${outcome.unknown}`);
            for (const { symbol, record, sentAt } of outcome.snapshots) {
              const text = new TextDecoder().decode(record);
              if ((JSON.parse(text) as { symbol: string }).symbol !== symbol)
                faults.push(`${symbol} is ${text}`);
              if (text.includes('extend_hour_') !== view.includes('e')) faults.push(`${view}: ${text}`);
              const age = time.now() - madeAt(record);
              if (age > outcome.ageMs || time.now() - sentAt > outcome.ageMs) faults.push(`older: ${age}`);
            }
          } else if (outcome.kind === 'refused' && expected.length > 0) faults.push(`${symbols}: refused`);
        });
      await time.runUntil(time.now() + 20_000 + 6000);
      assert.equal(open, 0, 'a request that was never answered');
      assert.deepEqual(faults, []);
    }),
    { numRuns: 150 },
  );
  // The property would hold of a gateway that never has anything, too.
  assert.ok(answered > 0.8 * all, `${answered} of ${all}`);
});
