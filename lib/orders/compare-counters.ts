/**
 * Audits the counters: each must be the sum of the exposures in the entries. Both change in one transaction, so that only a
 * defect, or a restored table, makes them differ.
 */

import { emptyCounter, readCounter, type StoredCounter } from '../guard-rails/counter.ts';
import { readExposure } from '../guard-rails/exposure.ts';
import { addDecimals, compareDecimals } from '../kernel/decimals.ts';
import type { CountingJournal, JournalEntry } from './journal.ts';

export interface ComparedCounters {
  readonly counters: number;
  /** Counters that were below the sum, and were raised to it. */
  readonly raised: number;
  /** Counters above the sum, which stay as they are: the list of entries may only lag behind. */
  readonly above: number;
  /** Counters that changed meanwhile and were not compared; absent where there were none. */
  readonly passed?: number;
}

/** Most open orders with which counters are compared. */
const maxEntries = 10_000;

/**
 * @returns undefined where nothing is counted, or more than can be read at once
 * @throws JournalUnavailable
 */
export async function compareCounters(journal: CountingJournal): Promise<ComparedCounters | undefined> {
  const keys = [...sumsOf(await journal.exposed('-', maxEntries)).keys()];
  if (keys.length === 0) return undefined;
  const before = byKey(await journal.counters(keys));
  const listed = await journal.exposed('-', maxEntries);
  if (listed.length === maxEntries) return undefined;
  const sums = sumsOf(listed);
  const after = byKey(await journal.counters(keys));
  let [raised, above, passed] = [0, 0, 0];
  for (const key of keys) {
    const { revision, ...counter } = after.get(key) ?? emptyCounter(key);
    // Orders came or ended between the two reads: a later run compares this counter.
    if (revision !== (before.get(key)?.revision ?? 0)) {
      passed++;
      continue;
    }
    const sum = sums.get(key) ?? '0';
    const state = readCounter({ ...counter, revision });
    const difference = compareDecimals(state.open, sum);
    if (difference > 0) above++;
    if (difference >= 0) continue;
    const raise = { key, revision, next: JSON.stringify({ ...state, open: sum }) };
    if ((await journal.change({ counters: [raise], exposures: [] })) === 'changed') raised++;
    else passed++;
  }
  return { counters: keys.length, raised, above, ...(passed > 0 && { passed }) };
}

function sumsOf(entries: readonly JournalEntry[]): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  for (const { exposure } of entries)
    for (const [key, notional] of Object.entries(
      exposure === undefined ? {} : readExposure(exposure).counted,
    ))
      sums.set(key, addDecimals(sums.get(key) ?? '0', notional));
  return sums;
}

const byKey = (counters: readonly StoredCounter[]): ReadonlyMap<string, StoredCounter> =>
  new Map(counters.map((one) => [one.key, one]));
