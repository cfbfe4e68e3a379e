/** Sequences that once made the journal or the counters say what was not true. */

import { describe, test } from 'vitest';
import { createHandOver } from '../../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal, createSettlement } from '../../../lib/orders/index.ts';
import { brokenBefore } from '../broken-before.ts';

describe.each(Object.entries(brokenBefore))('%s', (_, scenes) => {
  test.each(Object.entries(scenes))('%s', (_, scene) =>
    scene({ createHandOver, createMemoryOrderJournal, createSettlement }),
  );
});
