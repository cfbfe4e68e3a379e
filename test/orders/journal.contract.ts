/** The contract of every journal of orders. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  type EntryState,
  type JournalEntry,
  JournalUnavailable,
  type OrderJournal,
  type UnsettledList,
} from '../../lib/orders/index.ts';

let count = 0;
const now = Date.UTC(2036, 0, 1);

/** @param create gives an empty journal */
/** @param hasEarlier the journal is written by an earlier version, too, which lists no unseen orders */
export function orderJournalContract(
  name: string,
  create: () => OrderJournal | Promise<OrderJournal>,
  hasEarlier = false,
): void {
  const check = (what: string, run: (journal: OrderJournal, key: string) => Promise<void>) =>
    test(`${name}: ${what}`, async () => run(await create(), `entry-${++count}`));

  const checkToday: typeof check = hasEarlier ? () => {} : check;

  check('what was never begun is not there', async (journal, key) => {
    assert.equal((await journal.read([key])).size, 0);
    assert.equal((await journal.read([])).size, 0);
    assert.deepEqual(await listed(journal, 'placements', key), []);
  });

  check('what was begun is read as it is; the rest is left out', async (journal, key) => {
    const entry = entryOf(key, { record: `{"asked":"${'€'.repeat(1000)}"}` });
    const expiring = unlisted(`${key}-expiring`, { expiresAt: now + 1 });
    assert.equal(await journal.begin([entry], now), 'begun');
    assert.equal(await journal.begin([expiring], now), 'begun');
    const read = await journal.read([entry.key, 'another', entry.key, expiring.key]);
    assert.deepEqual(sorted(read.values()), [entry, expiring]);
    assert.equal(read.get(key)?.key, key);
  });

  for (const state of ['pending', 'unknown', 'accepted'] as const)
    check(`an entry that is ${state} is in the way, and is told`, async (journal, key) => {
      const first = await stored(journal, key, state);
      const taken = await journal.begin([entryOf(key, { attempt: 'second', hash: 'other' })], now);
      assert.deepEqual(taken, [first]);
      assert.deepEqual((await journal.read([key])).get(key), first);
    });

  check('a refused entry is taken over', async (journal, key) => {
    await stored(journal, key, 'refused');
    const second = entryOf(key, { attempt: 'second', hash: 'other' });
    assert.equal(await journal.begin([second], now), 'begun');
    assert.deepEqual((await journal.read([key])).get(key), second);
  });

  check('an expired entry is taken over when it expires, and not before', async (journal, key) => {
    const first = entryOf(key, { expiresAt: now + 1000 });
    await journal.begin([first], now);
    const second = entryOf(key, { attempt: 'second' });
    assert.deepEqual(await journal.begin([second], now + 999), [first]);
    assert.equal(await journal.begin([second], now + 1000), 'begun');
    // Without an end of its own.
    assert.deepEqual((await journal.read([key])).get(key), second);
  });

  for (const state of ['pending', 'unknown', 'accepted', 'refused'] as const)
    check(`the same attempt is begun when it comes again, and stays ${state}`, async (journal, key) => {
      const entries = [entryOf(key), entryOf(`${key}-other`)];
      assert.equal(await journal.begin(entries, now), 'begun');
      if (state !== 'pending') await journal.finish({ key, attempt: 'first', state, record: '{"late":1}' });
      const before = await journal.read(entries.map((one) => one.key));
      assert.equal(await journal.begin(entries, now), 'begun');
      assert.equal(await journal.begin(entries.slice(0, 1), now), 'begun');
      assert.deepEqual(await journal.read(entries.map((one) => one.key)), before);
      assert.equal(before.get(key)?.state, state);
    });

  check('of several entries all are begun, or none', async (journal, key) => {
    const taken = await stored(journal, `${key}-2`, 'unknown');
    const entries = [1, 2, 3].map((index) => entryOf(`${key}-${index}`, { attempt: 'second' }));
    assert.deepEqual(await journal.begin(entries, now), [taken]);
    const read = await journal.read(entries.map((entry) => entry.key));
    assert.deepEqual([...read.values()], [taken]);
    await journal.finish({ ...taken, state: 'refused' });
    assert.equal(await journal.begin(entries, now), 'begun');
    assert.equal((await journal.read(entries.map((entry) => entry.key))).size, 3);
  });

  check('every entry in the way is told', async (journal, key) => {
    const taken = [
      await stored(journal, `${key}-1`, 'accepted'),
      await stored(journal, `${key}-3`, 'pending'),
    ];
    const entries = [1, 2, 3].map((index) => entryOf(`${key}-${index}`, { attempt: 'second' }));
    const answer = await journal.begin(entries, now);
    assert.ok(answer !== 'begun');
    assert.deepEqual(sorted(answer), taken);
  });

  check('of a hundred attempts at once on one key one is begun', async (journal, key) => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => journal.begin([entryOf(key, { attempt: `${index}` })], now)),
    );
    const begun = answers.flatMap((answer, index) => (answer === 'begun' ? [`${index}`] : []));
    assert.equal(begun.length, 1);
    assert.equal((await journal.read([key])).get(key)?.attempt, begun[0]);
    for (const answer of answers) if (answer !== 'begun') assert.equal(answer[0]?.attempt, begun[0]);
  });

  check(
    'of attempts at once that share an entry one is begun, with all its entries',
    async (journal, key) => {
      const entriesOf = (attempt: number) =>
        [`${key}-shared`, `${key}-${attempt}`].map((one) => entryOf(one, { attempt: `${attempt}` }));
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, attempt) =>
          // That many transactions on one item are more than some journals take.
          journal.begin(entriesOf(attempt), now).catch((error: unknown) => {
            assert.ok(error instanceof JournalUnavailable);
            return [];
          }),
        ),
      );
      const begun = answers.flatMap((answer, attempt) => (answer === 'begun' ? [attempt] : []));
      assert.equal(begun.length, 1);
      const keys = answers.flatMap((_, attempt) => entriesOf(attempt).map((entry) => entry.key));
      assert.deepEqual(sorted((await journal.read(keys)).values()), sorted(entriesOf(begun[0]!)));
    },
  );

  /** What an outcome may replace. */
  const mayReplace: Readonly<Record<EntryState, readonly string[]>> = {
    pending: ['accepted', 'refused', 'unknown'],
    unknown: ['accepted', 'refused', 'unknown'],
    refused: ['accepted'],
    accepted: [],
  };
  for (const from of Object.keys(mayReplace) as EntryState[])
    for (const state of ['accepted', 'refused', 'unknown'] as const) {
      const may = mayReplace[from].includes(state);
      check(`${state} ${may ? 'replaces' : 'does not replace'} ${from}`, async (journal, key) => {
        const before = await stored(journal, key, from);
        const record = '{"outcome":"new"}';
        assert.equal(await journal.finish({ key, attempt: 'first', state, record }), may);
        const after = (await journal.read([key])).get(key);
        assert.deepEqual(after, may ? { ...before, state, record } : before);
      });
    }

  check('no outcome is written of another attempt, nor where nothing was begun', async (journal, key) => {
    const outcome = { key, attempt: 'second', state: 'accepted', record: '{}' } as const;
    assert.equal(await journal.finish(outcome), false);
    assert.equal((await journal.read([key])).size, 0);
    const refused = await stored(journal, key, 'refused');
    assert.equal(await journal.finish(outcome), false);
    assert.deepEqual((await journal.read([key])).get(key), refused);
  });

  check('of outcomes at once one is written', async (journal, key) => {
    await stored(journal, key, 'unknown');
    const written = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        journal.finish({ key, attempt: 'first', state: 'accepted', record: `${index}` }),
      ),
    );
    assert.equal(written.filter(Boolean).length, 1);
    assert.equal((await journal.read([key])).get(key)?.record, `${written.indexOf(true)}`);
  });

  check('lists what is unsettled, in the order of the keys, from one on and round', async (journal, key) => {
    const pending = await stored(journal, `${key}-c`, 'pending');
    const unknown = await stored(journal, `${key}-a`, 'unknown');
    const last = await stored(journal, `${key}-d`, 'unknown');
    await stored(journal, `${key}-accepted`, 'accepted');
    await stored(journal, `${key}-b`, 'refused');
    const change = await stored(journal, `${key}-change`, 'pending', { listedAs: 'changes' });
    await journal.begin([unlisted(`${key}-watchlist`)], now);
    const list = () => listed(journal, 'placements', key);
    assert.deepEqual(await list(), [unknown, pending, last]);
    assert.deepEqual(await journal.unsettled('placements', key, 2), [unknown, pending]);
    assert.deepEqual(await listed(journal, 'changes', key), [change]);
    const round = await journal.unsettled('placements', `${key}-b`, 10_000);
    assert.deepEqual([...round.slice(0, 2), round.at(-1)], [pending, last, unknown]);
    await journal.finish({ ...unknown, state: 'accepted' });
    assert.deepEqual(await list(), [pending, last]);
    // Begun again, it is unsettled again.
    const again = entryOf(`${key}-b`, { attempt: 'second' });
    await journal.begin([again], now);
    assert.deepEqual(await list(), [again, pending, last]);
  });

  check('lists more than one page', async (journal, key) => {
    const entries = Array.from({ length: 130 }, (_, index) => entryOf(`${key}-${1000 + index}`));
    for (const entry of entries) await journal.begin([entry], now);
    assert.deepEqual(await listed(journal, 'placements', key, 1000), entries);
    assert.equal((await journal.read(entries.map((entry) => entry.key))).size, 130);
  });

  checkToday(
    'what no sight settled is listed, and is replaced by what the upstream says',
    async (journal, key) => {
      const finish = (state: 'accepted' | 'refused' | 'unknown', word: keyof typeof words, over?: 'unseen') =>
        journal.finish({
          key,
          attempt: 'first',
          state,
          record: JSON.stringify({ outcome: words[word] }),
          ...(over && { over }),
        });
      const isListed = async () => (await listed(journal, 'unseen', key)).length === 1;
      await stored(journal, key, 'unknown');
      assert.deepEqual([await finish('refused', 'absence'), await isListed()], [true, true]);
      // One word leaves another as it is, unless it is an operator's who takes it back.
      assert.equal(await finish('accepted', 'operator'), false);
      assert.equal(await finish('refused', 'absence'), false);
      assert.equal(await finish('unknown', 'absence', 'unseen'), false);
      assert.deepEqual([await finish('accepted', 'operator', 'unseen'), await isListed()], [true, true]);
      assert.deepEqual(await listed(journal, 'placements', key), []);
      assert.deepEqual([await finish('refused', 'answer'), await isListed()], [true, false]);
      assert.equal(await finish('refused', 'operator', 'unseen'), false);
      assert.equal(await finish('accepted', 'operator', 'unseen'), false);
      assert.deepEqual([await finish('accepted', 'answer'), await isListed()], [true, false]);
      assert.equal(await finish('refused', 'operator', 'unseen'), false);
    },
  );

  checkToday('an operator’s word about what was accepted is listed until a sight', async (journal, key) => {
    await stored(journal, key, 'accepted');
    const said = { key, attempt: 'first', state: 'accepted' } as const;
    const ended = { ...said, record: '{"outcome":{"evidence":"answer","ended":true}}' };
    assert.equal(await journal.finish(ended), false);
    assert.equal(await journal.finish({ ...ended, over: 'accepted' }), true);
    assert.equal((await listed(journal, 'unseen', key)).length, 1);
    assert.equal(await journal.finish({ ...said, record: '{"outcome":{"evidence":"list"}}' }), true);
    assert.deepEqual(await listed(journal, 'unseen', key), []);
  });
}

/** Of an absence, of an operator and of the upstream: what replaces what. */
const words = {
  absence: { evidence: 'absence' },
  operator: { evidence: 'operator' },
  answer: { evidence: 'answer' },
};

/** Other tests have entries in the same store. */
const listed = async (journal: OrderJournal, list: UnsettledList, prefix: string, limit = 100) =>
  (await journal.unsettled(list, prefix, limit)).filter(({ key }) => key.startsWith(prefix));

export const entryOf = (key: string, more: Partial<JournalEntry> = {}): JournalEntry => ({
  key,
  attempt: 'first',
  hash: 'hash',
  state: 'pending',
  credential: 'credential',
  at: now,
  sendBy: now + 10_000,
  record: '{"operation":"placeOrder"}',
  listedAs: 'placements',
  ...more,
});

/** What no evidence can settle. */
export function unlisted(key: string, more: Partial<JournalEntry> = {}): JournalEntry {
  const { listedAs: _, ...entry } = entryOf(key, more);
  return entry;
}

/** An entry of the attempt `first`, as the journal has it now. */
export async function stored(
  journal: OrderJournal,
  key: string,
  state: EntryState,
  more: Partial<JournalEntry> = {},
): Promise<JournalEntry> {
  const entry = entryOf(key, more);
  assert.equal(await journal.begin([entry], now), 'begun');
  if (state === 'pending') return entry;
  const record = `{"outcome":"${state}"}`;
  assert.equal(await journal.finish({ key, attempt: 'first', state, record }), true);
  return { ...entry, state, record };
}

export const sorted = (entries: Iterable<JournalEntry>) =>
  [...entries].sort((a, b) => (a.key < b.key ? -1 : 1));
