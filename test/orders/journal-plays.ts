/** Sequences of what callers do with a journal, made at random and played on two journals, which must answer the same. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CountedChanges, CountingJournal } from '../../lib/orders/journal.ts';
import { each } from '../support/each.ts';
import { unlisted } from './journal.contract.ts';

const now = Date.UTC(2036, 0, 1);
let plays = 0;

type Step = (journal: CountingJournal, prefix: string) => Promise<unknown>;

/** Few of each, so that they meet. */
const name = fc.constantFrom('a', 'b', 'c');
const attempt = fc.constantFrom('first', 'second');
const exposure = fc.constantFrom(undefined, 'one', 'two');
const listedAs = fc.constantFrom(undefined, 'placements', 'changes');
const revision = fc.nat({ max: 3 });
const laterMs = fc.constantFrom(0, 1000, 2000);

/** What is read before, or at random: as callers do whose knowledge is late. */
const wanted = fc.record({
  counters: fc.uniqueArray(fc.record({ name, revision, isFresh: fc.boolean(), next: fc.string() }), {
    selector: (one) => one.name,
    maxLength: 2,
  }),
  exposures: fc.uniqueArray(fc.record({ name, before: exposure, isFresh: fc.boolean(), next: exposure }), {
    selector: (one) => one.name,
    maxLength: 2,
  }),
});

type Wanted = typeof wanted extends fc.Arbitrary<infer T> ? T : never;

async function changesOf(
  { counters, exposures }: Wanted,
  journal: CountingJournal,
  prefix: string,
): Promise<CountedChanges> {
  const stored = await journal.counters(counters.map((one) => `${prefix}-counter-${one.name}`));
  const entries = await journal.read(exposures.map((one) => `${prefix}-${one.name}`));
  return {
    counters: counters.map((one) => {
      const key = `${prefix}-counter-${one.name}`;
      const fresh = stored.find((counter) => counter.key === key)?.revision ?? 0;
      return { key, revision: one.isFresh ? fresh : one.revision, next: one.next };
    }),
    // An exposure is of an entry that is there.
    exposures: exposures.flatMap((one) => {
      const entry = entries.get(`${prefix}-${one.name}`);
      const before = one.isFresh ? entry?.exposure : one.before;
      const { attempt = 'first' } = one.isFresh ? (entry ?? {}) : {};
      return entry ? [{ key: entry.key, attempt, before, next: one.next }] : [];
    }),
  };
}

const begins = fc
  .record({
    entries: fc.uniqueArray(fc.record({ name, exposure, expires: fc.boolean(), listedAs }), {
      selector: (one) => one.name,
      minLength: 1,
      maxLength: 3,
    }),
    attempt,
    laterMs,
    wanted,
  })
  .map(
    ({ entries, attempt, laterMs, wanted }): Step =>
      async (journal, prefix) => {
        const begun = entries.map(({ name, exposure, expires, listedAs }) => ({
          ...unlisted(`${prefix}-${name}`, {
            attempt,
            ...(exposure !== undefined && { exposure }),
            ...(expires && { expiresAt: now + 1000 }),
            ...(listedAs && { listedAs }),
          }),
        }));
        const { counters, exposures } = await changesOf(wanted, journal, prefix);
        const keys = new Set(begun.map(({ key }) => key));
        // No transaction has an item twice.
        const changes = { counters, exposures: exposures.filter(({ key }) => !keys.has(key)) };
        return byKey(await journal.beginCounted(begun, now + laterMs, changes));
      },
  );

/** An answer, an absence, and an operator's words. */
const record = fc.constantFrom(
  { evidence: 'answer' },
  { evidence: 'absence' },
  { evidence: 'operator' },
  { evidence: 'answer', ended: true },
  { evidence: 'absence', unwatched: true },
);

const finishes = fc
  .record(
    {
      name,
      attempt,
      state: fc.constantFrom('accepted', 'refused', 'unknown'),
      record: record.map((outcome) => JSON.stringify({ outcome })),
      over: fc.constantFrom('unseen', 'accepted'),
    },
    { requiredKeys: ['name', 'attempt', 'state', 'record'] },
  )
  .map(
    ({ name, ...outcome }): Step =>
      (journal, prefix) =>
        journal.finish({ ...outcome, key: `${prefix}-${name}` }),
  );

const changes = wanted.map(
  (one): Step =>
    async (journal, prefix) =>
      byKey(await journal.change(await changesOf(one, journal, prefix))),
);

/** A test of one sequence on two journals, which may be used before. */
export const playedOnBoth = fc
  .array(fc.oneof({ weight: 3, arbitrary: begins }, finishes, changes), { minLength: 1, maxLength: 15 })
  .map((steps) => async (one: CountingJournal, other: CountingJournal) => {
    const prefix = `play-${++plays}`;
    const names = [...'abc'];
    for (const step of steps) {
      assert.deepEqual(await step(one, prefix), await step(other, prefix));
      const [seen, expected] = await Promise.all(
        [one, other].map((journal) => allOf(journal, prefix, names)),
      );
      assert.deepEqual(seen, expected);
    }
  });

async function allOf(journal: CountingJournal, prefix: string, names: readonly string[]) {
  const [entries, counters, ...lists] = await Promise.all([
    journal.read(names.map((one) => `${prefix}-${one}`)),
    journal.counters(names.map((one) => `${prefix}-counter-${one}`)),
    journal.exposed(`${prefix}-b`, 1000),
    journal.unsettled('placements', `${prefix}-b`, 1000),
    journal.unsettled('changes', `${prefix}-b`, 1000),
    journal.unsettled('unseen', `${prefix}-b`, 1000),
  ]);
  return {
    entries: byKey([...entries.values()]),
    counters: byKey(counters),
    lists: lists.map((listed) => each(listed, 'key').filter((key) => key.startsWith(`${prefix}-`))),
  };
}

/** The order of what is told is not certain. */
function byKey(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  if (typeof answer !== 'object' || answer === null) return answer;
  const { counters, ...rest } = answer as { readonly counters: readonly unknown[] };
  return { ...rest, counters: byKey(counters) };
}
