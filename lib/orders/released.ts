/** Takes an order out of the counters, once it cannot be open any more. */

import type { StoredCounter } from '../guard-rails/counter.ts';
import { readExposure, releasing } from '../guard-rails/exposure.ts';
import type { CountingJournal, JournalEntry } from './journal.ts';

/** Other orders of the same scopes change the counters meanwhile. */
const maxTries = 8;
const pauseMs = 20;

export interface ReleaseParts {
  readonly journal: CountingJournal;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * @param entry of an order whose end is known: it was refused, or the upstream shows it filled, cancelled or failed
 * @returns false when others were faster too often; the entry then stays counted, and is released later
 * @throws JournalUnavailable
 */
export async function releaseExposure(
  { key, exposure: first }: Pick<JournalEntry, 'key' | 'exposure'>,
  { journal, sleep }: ReleaseParts,
): Promise<boolean> {
  let exposure = first;
  for (let tries = 0; exposure !== undefined; tries++) {
    if (tries === maxTries) return false;
    if (tries > 0) await sleep(pauseMs * tries * (0.5 + Math.random()));
    const stored = await journal.counters(Object.keys(readExposure(exposure).counted));
    const counters = new Map(stored.map((one): [string, StoredCounter] => [one.key, one]));
    const changes = {
      counters: releasing(readExposure(exposure), counters),
      exposures: [{ key, before: exposure, next: undefined }],
    };
    const changed = await journal.change(changes);
    if (changed === 'changed') return true;
    // A replacement has changed what is counted, or another instance has released it.
    if (changed.exposures) exposure = (await journal.read([key])).get(key)?.exposure;
  }
  return true;
}
