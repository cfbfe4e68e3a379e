/** What every snapshot store must do. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import {
  noControl,
  type RefreshControl,
  type RefreshRecord,
  type SnapshotCheckpoint,
  type SnapshotStore,
} from '../../lib/cache/snapshots/index.ts';
import { each } from '../support/each.ts';

export const bytes = (text: string) => new TextEncoder().encode(text);

/** The control item of the next lease, with nothing special about it. */
export const controlAfter = (control: RefreshControl): RefreshControl => ({
  ...control,
  sequence: control.sequence + 1,
});

/** Acquires it. */
export const acquireAfter = (store: SnapshotStore, control: RefreshControl) =>
  store.acquire(controlAfter(control), control.sequence);

export function answerRecord(sequence: number, change: Partial<RefreshRecord> = {}): RefreshRecord {
  return {
    sequence,
    kind: 'refresh',
    view: 'US_STOCK',
    sentAt: 1_795_239_000_000.5 + sequence,
    symbols: ['AAPL'],
    outcome: {
      kind: 'answer',
      records: new Map([['AAPL', bytes('{ "symbol":"AAPL", "price":1.10, "name":"Zoë \\u2603" }')]]),
      unknown: [],
    },
    demand: [],
    ...change,
  };
}

export function snapshotStoreContract(
  name: string,
  create: (t: TestContext) => SnapshotStore | Promise<SnapshotStore>,
): void {
  const check = (what: string, run: (store: SnapshotStore) => Promise<void>) =>
    test(`${name}: ${what}`, async (t) => run(await create(t)));

  check('before the first lease there is nothing', async (store) => {
    assert.deepEqual(await store.read(undefined, []), { control: noControl, records: [] });
    assert.deepEqual(await store.read(0, [1, 2]), { control: noControl, records: [] });
  });

  check(
    'of concurrent attempts one acquires the lease, and the others get the control item as it is',
    async (store) => {
      const first = {
        ...controlAfter(noControl),
        due: { refresh: 5.5, miss: 6, probe: 7 },
        probes: { left: 3.25, at: 9 },
        flights: [
          { sequence: 1, at: 4.5, view: 'US_ETF+eo', fingerprints: [0, 1, 255, 256, 65_535] },
          { sequence: 1, at: 14, view: 'US_STOCK', fingerprints: [] },
          { sequence: 1, at: 4, view: 'US_STOCK', fingerprints: [7], caller: 'k1' },
          {
            sequence: 1,
            at: 4,
            view: 'US_STOCK',
            fingerprints: [8],
            caller: 'k2',
            isUnlistedProbe: true as const,
          },
        ],
        checkpoint: { sequence: 1, at: 8.5, records: 12, gap: 4 },
      };
      const answers = await Promise.all(Array.from({ length: 8 }, () => store.acquire(first, 0)));
      const lost = answers.flatMap((answer) => (answer.acquired ? [] : [answer.control]));
      assert.equal(lost.length, 7);
      for (const control of lost) assert.deepEqual(control, first);
      assert.deepEqual((await store.read(undefined, [])).control, first);
    },
  );

  check('a lease that is not the next is refused', async (store) => {
    const lease = (number: number): RefreshControl => ({ ...noControl, sequence: number });
    assert.equal((await store.acquire(lease(2), 1)).acquired, false);
    assert.equal((await store.acquire(lease(1), 0)).acquired, true);
    assert.equal((await store.acquire(lease(1), 0)).acquired, false);
    assert.equal((await store.acquire(lease(3), 2)).acquired, false);
    assert.equal((await store.acquire(lease(2), 1)).acquired, true);
  });

  check('several leases are acquired at once', async (store) => {
    const lease = (number: number): RefreshControl => ({ ...noControl, sequence: number });
    assert.equal((await store.acquire(lease(8), 0)).acquired, true);
    const lost = await store.acquire(lease(2), 1);
    assert.deepEqual(lost, { acquired: false, control: lease(8) });
    assert.equal((await store.acquire(lease(9), 8)).acquired, true);
  });

  check('misses are published to all, and read once each', async (store) => {
    assert.deepEqual(await store.readMisses(), []);
    await store.writeMisses([]);
    await store.writeMisses(['a/US_STOCK/A', 'b/US_STOCK/A']);
    await store.writeMisses(['a/US_STOCK/A', 'a/US_STOCK+e/B/C', 'a/US_STOCK/A']);
    assert.deepEqual([...(await store.readMisses())].sort(), [
      'a/US_STOCK+e/B/C',
      'a/US_STOCK/A',
      'b/US_STOCK/A',
    ]);
  });

  check('of very many misses the latest are read', async (store) => {
    for (let index = 0; index < 600; index += 20)
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.writeMisses([`a/US_STOCK/S${index + at}`])),
      );
    await store.writeMisses(['b/US_STOCK/LAST']);
    const keys = await store.readMisses();
    assert.ok(keys.length <= 600);
    assert.ok(keys.includes('b/US_STOCK/LAST'));
  });

  check('a checkpoint comes back as it was, each copy for itself', async (store) => {
    const one = checkpoint({ sequence: 3, negative: [['US_STOCK', 'Z', 12.5]], failedProbes: [['k1', 2.5]] });
    assert.equal(await store.readCheckpoint(0), undefined);
    await store.writeCheckpoint(0, one);
    await store.writeCheckpoint(8, checkpoint({ sequence: 2 }));
    assert.deepEqual(plainCheckpoint(await store.readCheckpoint(0)), plainCheckpoint(one));
    assert.equal((await store.readCheckpoint(8))?.sequence, 2);
    assert.equal(await store.readCheckpoint(1), undefined);
    await store.writeCheckpoint(0, checkpoint({ sequence: 9 }));
    assert.equal((await store.readCheckpoint(0))?.sequence, 9);
  });

  check(
    'a checkpoint of more than an item holds comes back whole, and goes when a smaller one follows',
    async (store) => {
      const fetched = Array.from({ length: 12 }, (_, index) => ({
        view: 'US_STOCK',
        sentAt: 1_795_239_000_000 + index,
        records: bulkyRecords(index, `P${index}-`),
      }));
      await store.writeCheckpoint(0, checkpoint({ sequence: 5, fetched }));
      const read = await store.readCheckpoint(0);
      assert.equal(
        read?.fetched.reduce((total, { records }) => total + records.size, 0),
        1200,
      );
      await store.writeCheckpoint(0, checkpoint({ sequence: 6 }));
      assert.deepEqual(
        plainCheckpoint(await store.readCheckpoint(0)),
        plainCheckpoint(checkpoint({ sequence: 6 })),
      );
    },
  );

  check('a log record comes back as it was, to the last byte of each snapshot', async (store) => {
    const error = { status: 417, errorCode: 'INVALID_SYMBOL', message: 'Symbol not known, Ä\n"X"' };
    const records: RefreshRecord[] = [
      answerRecord(1),
      answerRecord(2, {
        kind: 'probe',
        caller: 'k1',
        sibling: ['X', 'Y'],
        negative: [['US_STOCK', 'Z', 12.5]],
        demand: [
          ['US_STOCK', 'AAPL', 3],
          ['US_ETF+e', 'SPY', 1],
        ],
        symbols: ['NO/NE', 'ÄÖ'],
        outcome: { kind: 'answer', records: new Map(), unknown: ['NO/NE', 'ÄÖ'] },
      }),
      answerRecord(3, { symbols: ['A', 'B'], outcome: { kind: 'rejected', error } }),
      answerRecord(4, { symbols: ['A'], outcome: { kind: 'forbidden', error, until: 77.5 } }),
      answerRecord(5, { symbols: ['A'], outcome: { kind: 'failed', notBefore: 88.25, upstream: true } }),
    ];
    let control = noControl;
    for (const record of records) {
      assert.equal((await acquireAfter(store, control)).acquired, true);
      control = controlAfter(control);
      await store.write(record);
    }
    const read = await store.read(0, []);
    assert.deepEqual(plain(read.records), plain(records));
    assert.deepEqual(each((await store.read(3, [])).records, 'sequence'), [4, 5]);
    assert.deepEqual((await store.read(5, [])).records, []);
    assert.deepEqual((await store.read(undefined, [])).records, []);
  });

  check('late records are found by their sequence number', async (store) => {
    let control = noControl;
    for (let sequence = 1; sequence <= 4; sequence++) {
      await acquireAfter(store, control);
      control = controlAfter(control);
    }
    await store.write(answerRecord(4));
    await store.write(answerRecord(2));
    const read = await store.read(4, [1, 2, 3]);
    assert.deepEqual(each(read.records, 'sequence'), [2]);
  });

  check('more than one answer of the engine can hold is read to its end', async (store) => {
    let control = noControl;
    for (let sequence = 1; sequence <= 12; sequence++) {
      await acquireAfter(store, control);
      control = controlAfter(control);
      await store.write(answerRecord(sequence, bulky(sequence)));
    }
    const { records, control: read } = await store.read(0, []);
    assert.equal(read.sequence, 12);
    assert.deepEqual(
      each(records, 'sequence'),
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
  });
}

/** Records that do not compress: about 130 kB. */
const bulky = (seed: number): Partial<RefreshRecord> => ({
  outcome: { kind: 'answer', records: bulkyRecords(seed), unknown: [] },
});

function bulkyRecords(seed: number, prefix = 'S'): ReadonlyMap<string, Uint8Array> {
  const records = new Map<string, Uint8Array>();
  let state = seed;
  for (let index = 0; index < 100; index++) {
    let noise = '';
    while (noise.length < 1300) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      noise += state.toString(36);
    }
    const symbol = `${prefix}${index}`;
    records.set(symbol, bytes(`{"symbol":"${symbol}","noise":"${noise}"}`));
  }
  return records;
}

const checkpoint = (change: Partial<SnapshotCheckpoint>): SnapshotCheckpoint => ({
  sequence: 1,
  at: 1_795_239_009_000,
  fetched: [
    {
      view: 'US_STOCK',
      sentAt: 1_795_239_000_000.5,
      namesUnknown: true,
      records: new Map([
        ['AAPL', bytes('{ "symbol":"AAPL", "price":1.10, "name":"Zoë \\u2603" }')],
        ['B', bytes('{"symbol":"B"}')],
      ]),
    },
    { view: 'US_ETF+e', sentAt: 1_795_239_001_000, records: new Map([['B', bytes('{"symbol":"B","x":2}')]]) },
  ],
  demand: [
    ['US_STOCK', 'AAPL', 3.5, 1_795_239_008_000],
    ['US_ETF+e', 'B', 1, 1_795_239_009_000],
  ],
  negative: [],
  recent: [[1_795_239_000_000.5, 'miss', 'k1']],
  failedProbes: [],
  ...change,
});

const plainCheckpoint = (one: SnapshotCheckpoint | undefined) =>
  one && {
    ...one,
    fetched: one.fetched.map(({ records, ...group }) => ({
      ...group,
      records: [...records].map(([symbol, record]) => [symbol, new TextDecoder().decode(record)]),
    })),
  };

/** Bytes as text, and symbols in any order. */
const plain = (records: readonly RefreshRecord[]) =>
  records.map(({ outcome, symbols, ...record }) => ({
    ...record,
    symbols: [...symbols].sort(),
    ...(outcome.kind === 'answer'
      ? {
          negative: outcome.unknown,
          records: [...outcome.records].map(([symbol, record]) => [symbol, new TextDecoder().decode(record)]),
        }
      : { outcome }),
  }));
