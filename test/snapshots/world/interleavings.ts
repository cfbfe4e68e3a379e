/** Chance decides who asks when for what, of which instance, and what goes wrong meanwhile. */

import fc from 'fast-check';
import { createSnapshotCache, type SnapshotOutcome } from '../../../lib/cache/snapshots/index.ts';
import type { SnapshotCall } from '../../../lib/cache/snapshots/request.ts';
import { type View, viewOfId } from '../../../lib/cache/snapshots/view.ts';
import { createBench, us } from './bench.ts';

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

export const anyRun = fc.record({
  seed: fc.integer(),
  unknown: fc.constantFrom('refuses-naming' as const, 'refuses' as const, 'leaves-out' as const),
  requests: fc.array(request, { minLength: 1, maxLength: 40 }),
  troubles: fc.array(trouble, { maxLength: 5 }),
});

type Run = typeof anyRun extends fc.Arbitrary<infer T> ? T : never;

const listed = { US_STOCK: names.slice(0, 9), US_ETF: ['S1', 'S3'] };
const hasDirectory = (seed: number) => seed % 2 === 0;

/** Whether the symbol is missing in the run's directory. While probes of such symbols wait, the symbol counts as unknown. */
export const isUnlisted = ({ seed }: Run, { category }: View, symbol: string): boolean =>
  hasDirectory(seed) && !(listed as Record<string, string[]>)[category]?.includes(symbol);

/**
 * @param answered called with each answer, and with the time
 * @param create the cache that is judged
 * @returns how many requests were never answered
 */
export async function liveRun(
  { seed, unknown, requests, troubles }: Run,
  answered: (call: SnapshotCall, outcome: SnapshotOutcome, now: number) => void,
  create = createSnapshotCache,
): Promise<number> {
  const bench = createBench({ seed, unknown, create, ...(hasDirectory(seed) && { listed, pageSize: 4 }) });
  const instances = Array.from({ length: 5 }, () => bench.instance());
  const { time } = bench;
  let open = requests.length;
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
      answered(call, outcome, time.now());
    });
  await time.runUntil(time.now() + 20_000 + 6000);
  return open;
}
