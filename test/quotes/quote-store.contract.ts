/** What every quote store must do. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import {
  type Control,
  type Entry,
  mostWants,
  noControl,
  type QuoteStore,
} from '../../lib/gateway/quotes/index.ts';

export const bytes = (text: string) => new TextEncoder().encode(text);

/** The turn after a control item, with nothing special about it. */
export const turnAfter = ({ wants: _, ...control }: Control, takesWants: readonly string[] = []) => ({
  ...control,
  turn: control.turn + 1,
  takesWants,
});

export function answerEntry(turn: number, change: Partial<Entry> = {}): Entry {
  return {
    turn,
    kind: 'refresh',
    view: 'US_STOCK',
    sentAt: 1_795_239_000_000.5 + turn,
    symbols: ['AAPL'],
    outcome: {
      kind: 'answer',
      records: new Map([['AAPL', bytes('{ "symbol":"AAPL", "price":1.10, "name":"Zoë \\u2603" }')]]),
      unknown: [],
    },
    asked: [],
    ...change,
  };
}

export function quoteStoreContract(
  name: string,
  create: (t: TestContext) => QuoteStore | Promise<QuoteStore>,
): void {
  const check = (what: string, run: (store: QuoteStore) => Promise<void>) =>
    test(`${name}: ${what}`, async (t) => run(await create(t)));

  check('before the first turn there is nothing', async (store) => {
    assert.deepEqual(await store.read(undefined, []), { control: noControl, entries: [] });
    assert.deepEqual(await store.read(0, [1, 2]), { control: noControl, entries: [] });
  });

  check('of those who want the same turn one has it, and the others learn what is', async (store) => {
    const first = {
      ...turnAfter(noControl),
      due: { refresh: 5.5, wanted: 6, test: 7 },
      tests: { left: 3.25, at: 9 },
      flights: [{ turn: 1, at: 4.5, view: 'US_ETF+eo', marks: [0, 1, 255, 256, 65_535] }],
    };
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.take(first)));
    const lost = answers.flatMap((answer) => (answer.taken ? [] : [answer.control]));
    assert.equal(lost.length, 7);
    const { takesWants: _, ...expected } = first;
    for (const control of lost) assert.deepEqual(control, { ...expected, wants: [] });
    assert.deepEqual((await store.read(undefined, [])).control, { ...expected, wants: [] });
  });

  check('a turn that is not the next is refused', async (store) => {
    assert.equal((await store.take({ ...turnAfter(noControl), turn: 2 })).taken, false);
    assert.equal((await store.take(turnAfter(noControl))).taken, true);
    assert.equal((await store.take(turnAfter(noControl))).taken, false);
    assert.equal((await store.take({ ...turnAfter(noControl), turn: 3 })).taken, false);
    assert.equal((await store.take({ ...turnAfter(noControl), turn: 2 })).taken, true);
  });

  check('wants add up, once each, and go with the turn that takes them', async (store) => {
    await store.want(['a/US_STOCK/A', 'b/US_STOCK/A']);
    const control = await store.want(['a/US_STOCK/A', 'a/US_STOCK+e/B/C', 'a/US_STOCK/A']);
    assert.deepEqual([...control.wants].sort(), ['a/US_STOCK+e/B/C', 'a/US_STOCK/A', 'b/US_STOCK/A']);
    assert.equal(control.turn, 0);
    assert.equal((await store.take(turnAfter(noControl, ['a/US_STOCK/A', 'never/there/X']))).taken, true);
    const { wants } = (await store.read(undefined, [])).control;
    assert.deepEqual([...wants].sort(), ['a/US_STOCK+e/B/C', 'b/US_STOCK/A']);
    const last = { ...turnAfter(noControl, wants), turn: 2 };
    assert.equal((await store.take(last)).taken, true);
    assert.deepEqual((await store.read(undefined, [])).control.wants, []);
  });

  check('wants are bounded', async (store) => {
    const keys = Array.from({ length: mostWants }, (_, index) => `a/US_STOCK/S${index}`);
    await store.want(keys);
    const control = await store.want(['b/US_STOCK/ONE_MORE']);
    assert.equal(control.wants.length, mostWants);
    assert.ok(!control.wants.includes('b/US_STOCK/ONE_MORE'));
  });

  check('an entry comes back as it was, to the last byte of each record', async (store) => {
    const says = { status: 417, errorCode: 'INVALID_SYMBOL', message: 'Symbol not known, Ä\n"X"' };
    const entries: Entry[] = [
      answerEntry(1),
      answerEntry(2, {
        kind: 'test',
        caller: 'k1',
        sibling: ['X', 'Y'],
        unknown: [['US_STOCK', 'Z', 12.5]],
        asked: [
          ['US_STOCK', 'AAPL', 3],
          ['US_ETF+e', 'SPY', 1],
        ],
        symbols: ['NO/NE', 'ÄÖ'],
        outcome: { kind: 'answer', records: new Map(), unknown: ['NO/NE', 'ÄÖ'] },
      }),
      answerEntry(3, { symbols: ['A', 'B'], outcome: { kind: 'rejected', says } }),
      answerEntry(4, { symbols: ['A'], outcome: { kind: 'denied', says, until: 77.5 } }),
      answerEntry(5, { symbols: ['A'], outcome: { kind: 'failed', notBefore: 88.25, upstream: true } }),
    ];
    let control = noControl;
    for (const entry of entries) {
      const turn = turnAfter(control);
      assert.equal((await store.take(turn)).taken, true);
      control = { ...turn, wants: [] };
      await store.write(entry);
    }
    const read = await store.read(0, []);
    assert.deepEqual(plain(read.entries), plain(entries));
    assert.deepEqual(
      (await store.read(3, [])).entries.map(({ turn }) => turn),
      [4, 5],
    );
    assert.deepEqual((await store.read(5, [])).entries, []);
    assert.deepEqual((await store.read(undefined, [])).entries, []);
  });

  check('entries that are late are found by their turn', async (store) => {
    let control = noControl;
    for (let turn = 1; turn <= 4; turn++) {
      const next = turnAfter(control);
      await store.take(next);
      control = { ...next, wants: [] };
    }
    await store.write(answerEntry(4));
    await store.write(answerEntry(2));
    const read = await store.read(4, [1, 2, 3]);
    assert.deepEqual(
      read.entries.map(({ turn }) => turn),
      [2],
    );
  });

  check('more than one answer of the engine can hold is read to its end', async (store) => {
    let control = noControl;
    for (let turn = 1; turn <= 12; turn++) {
      const next = turnAfter(control);
      await store.take(next);
      control = { ...next, wants: [] };
      await store.write(answerEntry(turn, bulky(turn)));
    }
    const { entries, control: read } = await store.read(0, []);
    assert.equal(read.turn, 12);
    assert.deepEqual(
      entries.map(({ turn }) => turn),
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
  });
}

/** Records that do not compress: about 130 kB. */
function bulky(seed: number): Partial<Entry> {
  const records = new Map<string, Uint8Array>();
  let state = seed;
  for (let index = 0; index < 100; index++) {
    let noise = '';
    while (noise.length < 1300) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      noise += state.toString(36);
    }
    records.set(`S${index}`, bytes(`{"symbol":"S${index}","noise":"${noise}"}`));
  }
  return { outcome: { kind: 'answer', records, unknown: [] } };
}

/** Bytes as text, and symbols in any order. */
const plain = (entries: readonly Entry[]) =>
  entries.map(({ outcome, symbols, ...entry }) => ({
    ...entry,
    symbols: [...symbols].sort(),
    ...(outcome.kind === 'answer'
      ? {
          unknown: outcome.unknown,
          records: [...outcome.records].map(([symbol, record]) => [symbol, new TextDecoder().decode(record)]),
        }
      : { outcome }),
  }));
