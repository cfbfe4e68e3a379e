/** The contract of every journal that keeps counters: they change with entries, all or nothing, and no change is lost. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type {
  CountedChanges,
  CountingJournal,
  ExposureChange,
  JournalEntry,
  Stale,
} from '../../lib/orders/journal.ts';
import { each } from '../support/each.ts';
import { entryOf, sorted, stored, unlisted } from './journal.contract.ts';

const now = Date.UTC(2036, 0, 1);
let count = 0;

/** A counter as it was read, and what it becomes. */
export const counted = (key: string, revision: number, next: string): CountedChanges => ({
  counters: [{ key, revision, next }],
  exposures: [],
});

/** Of the first attempt, where nothing else is said. */
export const exposing = (
  ...exposures: readonly (Omit<ExposureChange, 'attempt'> & Partial<ExposureChange>)[]
): CountedChanges => ({
  counters: [],
  exposures: exposures.map((one) => ({ attempt: 'first', ...one })),
});

/** Other tests have entries in the same store. */
const listed = async (journal: CountingJournal, prefix: string) =>
  (await journal.exposed(prefix, 100)).filter(({ key }) => key.startsWith(prefix));

/** @param create gives an empty journal */
export function countingJournalContract(
  name: string,
  create: () => CountingJournal | Promise<CountingJournal>,
): void {
  const check = (what: string, run: (journal: CountingJournal, key: string) => Promise<void>) =>
    test(`${name}: ${what}`, async () => run(await create(), `counted-${++count}`));

  check('a counter that never changed is not there', async (journal, key) => {
    assert.deepEqual(await journal.counters([key]), []);
    assert.deepEqual(await journal.counters([]), []);
    assert.deepEqual(await listed(journal, key), []);
  });

  check('an entry is begun with its counters; each change has the next revision', async (journal, key) => {
    const entry = entryOf(key, { exposure: '{"counted":{}}' });
    const changes = [...'ab'].map((one) => ({ key: `${key}-${one}`, revision: 0, next: `one ${one}` }));
    assert.equal(await journal.beginCounted([entry], now, { counters: changes, exposures: [] }), 'begun');
    assert.deepEqual((await journal.read([key])).get(key), entry);
    assert.equal(await journal.change(counted(`${key}-a`, 1, 'two a')), 'changed');
    const read = await journal.counters([`${key}-a`, 'another', `${key}-b`]);
    assert.deepEqual(
      [...read].sort((one, other) => (one.key < other.key ? -1 : 1)),
      [
        { key: `${key}-a`, revision: 2, state: 'two a' },
        { key: `${key}-b`, revision: 1, state: 'one b' },
      ],
    );
  });

  check('nothing to change is changed', async (journal) => {
    assert.equal(await journal.change({ counters: [], exposures: [] }), 'changed');
  });

  check('a counter that is lost is written anew, after the revision that was read', async (journal, key) => {
    assert.equal(await journal.change(counted(key, 7, 'again')), 'changed');
    assert.deepEqual(await journal.counters([key]), [{ key, revision: 8, state: 'again' }]);
  });

  for (const read of [0, 1, 3])
    check(
      `a counter at revision 2 that was read at ${read} is told, and nothing is written`,
      async (journal, key) => {
        const [late, other] = [`${key}-late`, `${key}-other`];
        await journal.change(counted(late, 0, 'first'));
        await journal.change(counted(late, 1, 'second'));
        const is = { key: late, revision: 2, state: 'second' };
        const both: CountedChanges = {
          counters: [
            { key: other, revision: 0, next: 'lost' },
            { key: late, revision: read, next: 'lost' },
          ],
          exposures: [],
        };
        const stale: Stale = { counters: [is], exposures: false };
        assert.deepEqual(await journal.change(both), stale);
        assert.deepEqual(await journal.beginCounted([entryOf(key)], now, both), stale);
        assert.deepEqual(await journal.counters([late, other]), [is]);
        assert.equal((await journal.read([key])).size, 0);
      },
    );

  check('an entry in the way comes before what is stale, and nothing is written', async (journal, key) => {
    await journal.change(counted(`${key}-late`, 0, 'first'));
    const taken = await stored(journal, `${key}-1`, 'unknown');
    const entries = [1, 2].map((index) => entryOf(`${key}-${index}`, { attempt: 'second' }));
    for (const revision of [0, 1]) {
      const changes = counted(`${key}-late`, revision, 'lost');
      assert.deepEqual(await journal.beginCounted(entries, now, changes), [taken]);
    }
    assert.deepEqual(await journal.counters([`${key}-late`]), [
      { key: `${key}-late`, revision: 1, state: 'first' },
    ]);
    assert.deepEqual([...(await journal.read(entries.map((entry) => entry.key))).values()], [taken]);
  });

  check('an attempt that comes again is begun, and its changes are written once', async (journal, key) => {
    const entries = [1, 2].map((index) => entryOf(`${key}-${index}`, { exposure: 'counted' }));
    const changes = counted(key, 0, 'once');
    assert.equal(await journal.beginCounted(entries, now, changes), 'begun');
    assert.equal(await journal.beginCounted(entries, now, changes), 'begun');
    assert.equal(await journal.beginCounted(entries, now, counted(key, 1, 'twice')), 'begun');
    assert.deepEqual(await journal.counters([key]), [{ key, revision: 1, state: 'once' }]);
    await journal.change(exposing({ key: `${key}-1`, before: 'counted', next: undefined }));
    assert.equal(await journal.beginCounted(entries, now, changes), 'begun');
    const read = await journal.read([`${key}-1`]);
    assert.deepEqual([...read.values()], [entryOf(`${key}-1`)]);
  });

  check('an attempt that lost one of its entries writes that one anew', async (journal, key) => {
    const entries = [1, 2].map((index) => entryOf(`${key}-${index}`));
    await journal.begin(entries, now);
    const outcome = { key: `${key}-1`, state: 'refused', record: '{}' } as const;
    await journal.finish({ ...outcome, attempt: 'first' });
    await journal.begin([entryOf(`${key}-1`, { attempt: 'second' })], now);
    await journal.finish({ ...outcome, attempt: 'second' });
    assert.equal(await journal.beginCounted(entries, now, counted(key, 0, 'one')), 'begun');
    assert.deepEqual(sorted((await journal.read(entries.map((entry) => entry.key))).values()), entries);
    assert.deepEqual(await journal.counters([key]), [{ key, revision: 1, state: 'one' }]);
  });

  for (const [what, more, later] of [
    ['refused', {}, 0],
    ['expired', { expiresAt: now + 1000 }, 1000],
  ] as const)
    check(`a ${what} entry that is counted is in the way until it is not`, async (journal, key) => {
      const first = entryOf(key, { exposure: 'counted', ...more });
      await journal.beginCounted([first], now, counted(`${key}-counter`, 0, 'one'));
      const { record } = first;
      if (what === 'refused') await journal.finish({ key, attempt: 'first', state: 'refused', record });
      const is: JournalEntry = { ...first, state: what === 'refused' ? 'refused' : 'pending' };
      const second = entryOf(key, { attempt: 'second' });
      assert.deepEqual(await journal.begin([second], now + later), [is]);
      const changes = counted(`${key}-counter`, 1, 'two');
      assert.deepEqual(await journal.beginCounted([second], now + later, changes), [is]);
      assert.equal(await journal.change(exposing({ key, before: 'counted', next: undefined })), 'changed');
      assert.equal(await journal.beginCounted([second], now + later, changes), 'begun');
      assert.deepEqual((await journal.read([key])).get(key), second);
    });

  check('an exposure changes with its counter, where it is as it was read', async (journal, key) => {
    const placed = entryOf(key, { exposure: 'one' });
    await journal.beginCounted([placed], now, counted(`${key}-counter`, 0, 'one'));
    const change = (before: string | undefined, next: string | undefined, revision: number) =>
      journal.change({
        ...counted(`${key}-counter`, revision, next ?? 'none'),
        exposures: exposing({ key, before, next }).exposures,
      });
    for (const before of ['other', undefined]) {
      assert.deepEqual(await change(before, 'two', 1), { counters: [], exposures: true });
      const is = { key: `${key}-counter`, revision: 1, state: 'one' };
      assert.deepEqual(await change(before, 'two', 0), { counters: [is], exposures: true });
    }
    assert.deepEqual((await journal.read([key])).get(key), placed);
    for (const [index, [before, next]] of (
      [
        ['one', 'two'],
        ['two', undefined],
        [undefined, 'three'],
        ['three', 'three'],
      ] as const
    ).entries()) {
      assert.equal(await change(before, next, index + 1), 'changed');
      assert.equal((await journal.read([key])).get(key)?.exposure, next);
    }
    assert.equal((await journal.counters([`${key}-counter`]))[0]?.revision, 5);
  });

  check('an exposure of no entry is another one', async (journal, key) => {
    const { exposures } = exposing({ key: `${key}-1`, before: 'a', next: 'b' });
    const changes = { ...counted(key, 0, 'lost'), exposures };
    assert.deepEqual(await journal.change(changes), { counters: [], exposures: true });
    assert.deepEqual(await journal.counters([key]), []);
    assert.equal((await journal.read([`${key}-1`])).size, 0);
  });

  check('an entry is begun with the exposure of another, or not at all', async (journal, key) => {
    const [placed, replaces] = [entryOf(`${key}-1`, { exposure: 'one' }), entryOf(`${key}-2`)];
    await journal.begin([placed], now);
    const begin = (before: string) =>
      journal.beginCounted([replaces], now, exposing({ key: placed.key, before, next: 'wider' }));
    assert.deepEqual(await begin('late'), { counters: [], exposures: true });
    assert.equal((await journal.read([replaces.key])).size, 0);
    assert.equal(await begin('one'), 'begun');
    assert.deepEqual(sorted((await journal.read([placed.key, replaces.key])).values()), [
      { ...placed, exposure: 'wider' },
      replaces,
    ]);
    // Its answer was lost.
    assert.equal(await begin('one'), 'begun');
  });

  check('an order that is replaced twice in one request has the last exposure', async (journal, key) => {
    const placed = entryOf(key, { exposure: 'one' });
    await journal.begin([placed], now);
    const both = ['two', 'three'].map((next) => ({ key, before: 'one', next }));
    assert.equal(await journal.change(exposing(...both)), 'changed');
    assert.equal((await journal.read([key])).get(key)?.exposure, 'three');
  });

  check('an outcome leaves the exposure', async (journal, key) => {
    const placed = entryOf(key, { exposure: 'one' });
    await journal.begin([placed], now);
    const outcome = { key, attempt: 'first', state: 'accepted', record: '{"outcome":1}' } as const;
    assert.equal(await journal.finish(outcome), true);
    const is = { ...placed, state: outcome.state, record: outcome.record };
    assert.deepEqual((await journal.read([key])).get(key), is);
    assert.deepEqual(await listed(journal, key), [is]);
  });

  check('lists what is counted, in the order of the keys, from one on and round', async (journal, key) => {
    const [a, b, c] = [
      entryOf(`${key}-a`, { exposure: 'a' }),
      entryOf(`${key}-b`),
      unlisted(`${key}-c`, { exposure: 'c' }),
    ];
    await journal.begin([c, a, b], now);
    assert.deepEqual(await listed(journal, key), [a, c]);
    assert.deepEqual(await journal.exposed(key, 1), [a]);
    const round = await journal.exposed(`${key}-b`, 10_000);
    assert.deepEqual([round[0], round.at(-1)], [c, a]);
    await journal.change(
      exposing(
        { key: c.key, before: 'c', next: undefined },
        { key: b.key, before: undefined, next: 'b' },
        { key: a.key, before: 'a', next: 'a2' },
      ),
    );
    assert.deepEqual(await listed(journal, key), [
      { ...a, exposure: 'a2' },
      { ...b, exposure: 'b' },
    ]);
  });

  check('an exposure is of its attempt: another one may have the same', async (journal, key) => {
    await stored(journal, key, 'refused', { exposure: 'one' });
    assert.equal(await journal.change(exposing({ key, before: 'one', next: undefined })), 'changed');
    const second = entryOf(key, { attempt: 'second', exposure: 'one' });
    assert.equal(await journal.begin([second], now), 'begun');
    const { exposures } = exposing({ key, before: 'one', next: undefined });
    const late = { ...counted(`${key}-counter`, 0, 'lost'), exposures };
    assert.deepEqual(await journal.change(late), { counters: [], exposures: true });
    assert.deepEqual((await journal.read([key])).get(key), second);
    assert.deepEqual(await journal.counters([`${key}-counter`]), []);
  });

  check('of changes at once of one counter none is lost', async (journal, key) => {
    const add = async (index: number) => {
      const own = `${key}-own-${index}`;
      let seen = { key, revision: 0, state: '0' };
      for (;;) {
        const changes: CountedChanges = {
          counters: [
            { key, revision: seen.revision, next: String(Number(seen.state) + 1) },
            { key: own, revision: 0, next: 'own' },
          ],
          exposures: [],
        };
        const entry = entryOf(`${key}-${index}`, { attempt: `${index}` });
        const begun = await journal.beginCounted([entry], now, changes);
        if (begun === 'begun') return;
        assert.ok('counters' in begun);
        assert.deepEqual([begun.exposures, begun.counters.length], [false, 1]);
        // A change of which this one did not know.
        assert.ok(begun.counters[0]!.revision > seen.revision);
        seen = begun.counters[0]!;
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => add(index)));
    assert.deepEqual(await journal.counters([key]), [{ key, revision: 20, state: '20' }]);
    const keys = Array.from({ length: 20 }, (_, index) => index);
    assert.equal((await journal.counters(keys.map((index) => `${key}-own-${index}`))).length, 20);
    assert.equal((await journal.read(keys.map((index) => `${key}-${index}`))).size, 20);
  });

  check('of removals at once of one exposure one is written', async (journal, key) => {
    await journal.begin([entryOf(key, { exposure: 'one' })], now);
    const removed = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        journal.change({
          ...counted(`${key}-${index}`, 0, 'released'),
          exposures: exposing({ key, before: 'one', next: undefined }).exposures,
        }),
      ),
    );
    assert.equal(removed.filter((one) => one === 'changed').length, 1);
    const keys = removed.map((_, index) => `${key}-${index}`);
    assert.deepEqual(each(await journal.counters(keys), 'key'), [`${key}-${removed.indexOf('changed')}`]);
  });
}
