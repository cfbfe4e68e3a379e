/** What one run does with what it finds, scene by scene: for the code as it is, and for mutants of it. */

import assert from 'node:assert/strict';
import type { MassCancel } from '../../../lib/guard-rails/index.ts';
import {
  type CancelOutcome,
  type JournalEntry,
  JournalUnavailable,
  type MassCancelReport,
} from '../../../lib/orders/index.ts';
import type { ReadOrder } from '../../../lib/orders/order-reads.ts';
import type { MassCancelSubject } from './world.ts';

const now = Date.UTC(2026, 10, 20, 15);
const minute = 60_000;
const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };

type Listed = Omit<ReadOrder, 'state'> & { readonly state?: Partial<ReadOrder['state']> };

/** What the run finds; a function rejects. */
interface Found {
  readonly scope?: string;
  /** How long ago it was asked for. */
  readonly ageMs?: number;
  readonly orders?: Readonly<Record<string, Readonly<Record<string, Listed>> | 'unreadable'>>;
  /** By the order's id. */
  readonly entries?: Readonly<Record<string, Partial<JournalEntry>>> | 'away';
  readonly accounts?: readonly string[] | 'unreadable';
  readonly outcomes?: Readonly<Record<string, CancelOutcome | 'throws'>>;
  /** How long each cancel takes, of the half minute that the run has. */
  readonly cancelMs?: number;
  readonly finish?: 'throws' | false;
  /** Orders that the first list does not show, although they are open. */
  readonly passedOver?: readonly string[];
}

export interface Came {
  readonly report: MassCancelReport;
  /** The ids of the orders, in no order. */
  readonly cancelled: readonly string[];
  readonly finished: readonly string[];
  readonly failures: number;
}

export const alone = (more: Readonly<Record<string, unknown>> = {}): Listed => ({
  payload: JSON.stringify({
    combo_type: 'NORMAL',
    place_time_at: new Date(now - 30 * minute).toISOString(),
    ...more,
  }),
});

export const part = (combo_type: string, status = 'SUBMITTED'): Listed => ({
  ...alone({ combo_type }),
  combination: 'combination',
  state: { status },
});

export const entryOf = (record: object, more: Partial<JournalEntry> = {}): Partial<JournalEntry> => ({
  state: 'accepted',
  at: now - 30 * minute,
  record: JSON.stringify({ operation: 'placeOrder', kind: 'placement', ...record }),
  ...more,
});

export async function runOnce(subject: MassCancelSubject, found: Found): Promise<Came> {
  const {
    scope = 'stack',
    ageMs = 0,
    orders = {},
    entries = {},
    outcomes = {},
    cancelMs = 0,
    finish = true,
    passedOver = [],
  } = found;
  const { accounts = Object.keys(orders) } = found;
  const request: MassCancel = { id: 'id', scope, at: now - ageMs, placedBefore: now - ageMs + 65_000 };
  const cancelled: string[] = [];
  const finished: string[] = [];
  let [clock, failures, lists] = [now, 0, 0];
  const massCancels = subject.createMassCancels({
    store: {
      open: async () => [request],
      async finish(one) {
        if (finish === 'throws') throw new Error('the store is away');
        finished.push(one.id);
        return finish;
      },
    },
    orders: {
      async accounts() {
        if (accounts === 'unreadable') throw new Error('unreadable');
        return accounts;
      },
      async openOrders(account) {
        const listed = orders[account] ?? {};
        if (listed === 'unreadable') throw new Error('unreadable');
        lists++;
        const shown = Object.entries(listed).filter(([id]) => lists > 1 || !passedOver.includes(id));
        return shown.map(([id, { state, ...one }]) => ({
          ...one,
          state: { account, clientOrderId: id, status: 'SUBMITTED', filled: '0', ...state },
        }));
      },
    },
    async cancel(_account, id) {
      cancelled.push(id);
      clock += cancelMs;
      const outcome = outcomes[id] ?? 'accepted';
      if (outcome === 'throws') throw new Error('the cancel fails');
      return outcome;
    },
    journal: {
      async read(keys) {
        if (entries === 'away') throw new JournalUnavailable();
        return new Map(
          keys.flatMap((key) => {
            const entry = entries[key.split('|').at(-1)!];
            return entry ? [[key, entry as JournalEntry] as const] : [];
          }),
        );
      },
    },
    names,
    clock: () => clock,
    reportFailure: () => failures++,
  });
  const report = await massCancels.run(now + 30_000);
  return { report, cancelled: cancelled.sort(), finished, failures };
}

/** Long after anything may still come. */
const late = { ageMs: 20 * minute };

/** Each holds for the code as it is; a mutant breaks one at least. */
export const scenes: Readonly<Record<string, (subject: MassCancelSubject) => Promise<void>>> = {
  async 'a combination is cancelled once, by its master'(subject) {
    const orders = { a: { p: part('STOP_LOSS'), z: part('MASTER'), q: part('STOP_PROFIT'), o: alone() } };
    const { cancelled, report } = await runOnce(subject, { orders });
    assert.deepEqual(cancelled, ['o', 'z']);
    assert.deepEqual([report.accepted, report.left], [2, 0]);
  },
  async 'parts go one by one where the master is filled, and where its cancel is refused'(subject) {
    const filled = { a: { m: part('MASTER', 'FILLED'), p: part('STOP_LOSS'), q: part('STOP_PROFIT') } };
    assert.deepEqual((await runOnce(subject, { orders: filled })).cancelled, ['p', 'q']);
    const open = { a: { m: part('MASTER'), p: part('STOP_LOSS'), q: part('STOP_PROFIT') } };
    const { cancelled, report } = await runOnce(subject, { orders: open, outcomes: { m: 'refused' } });
    assert.deepEqual(cancelled, ['m', 'p', 'q']);
    assert.deepEqual([report.accepted, report.refused, report.left], [2, 1, 1]);
  },
  async 'combinations without a master are cancelled whole'(subject) {
    const orders = { a: { p: part('OCO'), q: part('OCO') } };
    assert.deepEqual((await runOnce(subject, { orders })).cancelled, ['p', 'q']);
  },
  async 'an account that cannot be read stops no other, and nothing is finished'(subject) {
    const orders = { a: 'unreadable', b: { o: alone() }, c: 'unreadable', d: {} } as const;
    const { cancelled, finished, report, failures } = await runOnce(subject, { orders, ...late });
    assert.deepEqual([cancelled, finished, report.unread, failures], [['o'], [], 2, 2]);
    const none = { a: 'unreadable', d: {} } as const;
    const unread = await runOnce(subject, { orders: none, ...late });
    assert.deepEqual([unread.finished, unread.report.oldestMs], [[], 20 * minute]);
  },
  async 'accounts that cannot be listed, or are none, finish nothing'(subject) {
    for (const accounts of ['unreadable', []] as const) {
      const { finished, report } = await runOnce(subject, { accounts, ...late });
      assert.deepEqual([finished, report.oldestMs], [[], 20 * minute]);
    }
  },
  async 'an order whose cancel fails stops no other'(subject) {
    const orders = { a: { o: alone(), p: alone(), q: alone(), r: alone(), s: alone(), t: alone() } };
    const outcomes = { o: 'throws', p: 'refused', q: 'unknown' } as const;
    const { cancelled, report } = await runOnce(subject, { orders, outcomes });
    assert.deepEqual(cancelled, Object.keys(orders.a));
    const { accepted, refused, unknown, left } = report;
    assert.deepEqual([accepted, refused, unknown, left], [3, 1, 2, 3]);
  },
  async 'without the journal everything goes, but for what is one user’s'(subject) {
    const orders = { a: { o: alone() } };
    const all = await runOnce(subject, { orders, entries: 'away' });
    assert.deepEqual([all.cancelled, all.failures], [['o'], 1]);
    const own = await runOnce(subject, { orders, entries: 'away', scope: 'user u', ...late });
    assert.deepEqual([own.cancelled, own.finished], [[], []]);
  },
  async 'an order that the journal does not know goes, unless it was placed later, also one of unknown time'(
    subject,
  ) {
    const at = (ms: number) => alone({ place_time_at: new Date(now + ms).toISOString() });
    const orders = {
      a: { o: at(65_000), p: at(65_001), q: { payload: '{}' }, r: alone({ place_time_at: 'soon' }) },
    };
    assert.deepEqual((await runOnce(subject, { orders })).cancelled, ['o', 'q', 'r']);
  },
  async 'of a user goes what the journal says is the user’s, and not what it says was refused'(subject) {
    const entries = {
      o: entryOf({ user: 'u' }),
      p: entryOf({ user: 'v' }),
      q: entryOf({}),
      r: entryOf({ user: 'u' }, { state: 'refused' }),
      s: entryOf({ user: 'u' }, { state: 'unknown' }),
      t: entryOf({ user: 'u' }, { record: '' }),
    };
    const orders = { a: Object.fromEntries([...Object.keys(entries), 'x'].map((id) => [id, alone()])) };
    const { cancelled } = await runOnce(subject, { orders, entries, scope: 'user u' });
    assert.deepEqual(cancelled, ['o', 's']);
  },
  async 'an order that another program placed is as old as the upstream says, not as its first replacement'(
    subject,
  ) {
    const orders = { a: { o: { payload: '{}' }, p: alone({ place_time_at: new Date(now).toISOString() }) } };
    const replaced = entryOf({ placed_elsewhere: true }, { at: now + 10 * minute });
    const entries = { o: replaced, p: replaced };
    assert.deepEqual((await runOnce(subject, { orders, entries })).cancelled, ['o', 'p']);
    const own = await runOnce(subject, { orders, entries, scope: 'user u' });
    assert.deepEqual(own.cancelled, []);
  },
  async 'an entry that is none hides no order, and lets nothing be finished'(subject) {
    const orders = { a: { o: alone(), p: alone() } };
    const entries = { o: entryOf({}, { record: '{}' }), p: entryOf({ user: 'u' }) };
    assert.deepEqual((await runOnce(subject, { orders, entries })).cancelled, ['o', 'p']);
    const later = { a: { o: alone({ place_time_at: new Date(now).toISOString() }) } };
    const own = { entries: { o: entryOf({}, { record: '{}', at: now }) }, scope: 'user u', ...late };
    assert.deepEqual((await runOnce(subject, { orders: later, ...own })).finished, []);
  },
  async 'what is not reached in time is left, and nothing is finished'(subject) {
    const ids = Array.from({ length: 20 }, (_, index) => `o${index}`);
    const orders = { a: Object.fromEntries(ids.map((id) => [id, alone()])) };
    const { cancelled, report } = await runOnce(subject, { orders, cancelMs: 5000 });
    assert.equal(cancelled.length, report.accepted);
    assert.ok(cancelled.length >= 6 && cancelled.length < 20, `${cancelled.length}`);
    assert.equal(report.accepted + report.left, 20);
  },
  async 'a request of a scope that is not known stays open, and cancels nothing'(subject) {
    const { cancelled, finished, report } = await runOnce(subject, {
      orders: { a: {} },
      scope: 'desk d',
      ...late,
    });
    assert.deepEqual([cancelled, finished, report.oldestMs], [[], [], 20 * minute]);
  },
  async 'one that is clear has no age, and is finished when nothing can come any more'(subject) {
    for (const [ageMs, isFinished] of [
      [5 * minute, false],
      [12 * minute, false],
      [15 * minute, true],
    ] as const) {
      const { finished, report } = await runOnce(subject, { orders: { a: {} }, ageMs });
      assert.deepEqual([report.oldestMs, report.finished], [0, isFinished ? 1 : 0]);
      assert.equal(finished.length, isFinished ? 1 : 0);
    }
    for (const finish of ['throws', false] as const)
      assert.equal((await runOnce(subject, { orders: { a: {} }, finish, ...late })).report.finished, 0);
  },
  async 'an order that the pages of the first list passed over keeps the request open'(subject) {
    const orders = { a: { o: alone() } };
    const { finished } = await runOnce(subject, { orders, passedOver: ['o'], ...late });
    assert.deepEqual(finished, []);
  },
  async 'what is open has an age, also where a clock that is ahead has just asked for it again'(subject) {
    const { report } = await runOnce(subject, { orders: { a: { o: alone() } }, ageMs: -minute });
    assert.equal(report.oldestMs, 1);
  },
  async 'what is open keeps its age, also what is one of many'(subject) {
    const orders = { a: {}, b: { o: alone() } };
    const { report, finished } = await runOnce(subject, { orders, ...late });
    assert.deepEqual([report.oldestMs, finished], [20 * minute, []]);
  },
};

/** The first scene that a subject does not pass. */
export async function sceneFault(subject: MassCancelSubject): Promise<string | undefined> {
  for (const [name, scene] of Object.entries(scenes))
    try {
      await scene(subject);
    } catch (error) {
      return `${name}: ${String(error).split('\n')[0]}`;
    }
  return undefined;
}
