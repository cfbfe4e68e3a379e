/**
 * Settles unknown entries from evidence of the upstream, the cheapest first: one list of an account's open orders for many
 * entries, then a look-up for each remaining one. An order's event starts its look-up at once.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { sleep as sleepWithTimer } from '../kernel/pauses.ts';
import { type ComparedCounters, compareCounters } from './compare-counters.ts';
import { absentBy, isAbsent, isEarlierFailure, mayBeOpen, type OrderSight, outcomeBy } from './evidence.ts';
import type { CountingJournal, EntryOutcome, JournalEntry } from './journal.ts';
import type { OrderReads, ReadOrder } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { orderKey } from './parts.ts';
import type { Reconciled } from './reconcile.ts';
import { type AbsenceProof, isUnseen, type OrderRecord, readRecord } from './record.ts';
import {
  idsOf,
  othersOf,
  type ReleaseOptions,
  recountKept,
  recountShown,
  releaseEnded,
  releaseSeen,
  settleSeen,
} from './release-ended.ts';
import { turnAt } from './turns.ts';

export interface SettlementWiring {
  /** The journal with the counters of pre-trade checks, from which ended orders are removed. */
  readonly journal: CountingJournal;
  /** Reads orders at low priority, because clients come first. */
  readonly orders: Pick<OrderReads, 'openOrders' | 'order' | 'ordersSince'>;
  readonly names: KeyedNames;
  /** Detects a restored table and brings the journal up to date: `reconcile`. Default: no detection. */
  readonly reconcile: (until: number) => Promise<Reconciled | undefined>;
  readonly clock: () => number;
  /** Resolves after `ms` milliseconds; replace it in tests only. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Called with a failure, after which entries stay unknown until the next run. It names no account and no order. */
  readonly reportFailure: (cause: unknown) => void;
}

export type SettlementOptions = OptionsOf<SettlementWiring, 'journal' | 'orders' | 'names'>;

/** Result of a run. */
export interface SettlementReport {
  readonly accepted: number;
  /** Settled entries whose requests placed or changed nothing. */
  readonly refused: number;
  /** Entries that are still unknown, without those of `apart`. */
  readonly left: number;
  /** Unknown entries that wait a day, because no order of their account shows that look-ups work. */
  readonly apart: number;
  /** Age of the oldest entry of `left`, in milliseconds; 0 without such an entry. */
  readonly oldestMs: number;
  /** Orders that were taken out of the counters. */
  readonly released: number;
  /** Requests to the upstream. */
  readonly reads: number;
  /** Comparison of the counters with their entries, made once an hour. */
  readonly compared?: ComparedCounters;
  /** Progress after a restore; absent while no table counts as restored. */
  readonly reconciled?: Reconciled;
}

export interface Settlement {
  /** Settles entries until `until`, in milliseconds since the epoch. */
  run(until: number): Promise<SettlementReport>;
  /** Settles the entry of an order that an event shows. @returns whether an entry was settled */
  saw(order: ReadOrder): Promise<boolean>;
}

/** Most entries of each list in one run; the next run continues. */
const maxEntries = 1000;
/** Least entries of one account for which its list of open orders is read first: a page of it settles up to a hundred. */
const minForList = 3;
/** Parts of a run's time after which placements, then changes, must be finished. Ended orders get the rest. */
const parts = { placements: 1 / 2, changes: 3 / 4 };
/** How far back the history is searched for an order to prove that look-ups work, when an account has no open one. */
const historyMs = 7 * 24 * 60 * 60_000;
/** Most listed orders that are looked up until one can be read. */
const maxProofs = 3;

/**
 * @example
 * const settlement = createSettlement({ journal, orders: createGatewayOrderReads({ gateway }), names });
 * await settlement.run(Date.now() + 50_000);
 */
export const createSettlement = (options: SettlementOptions): Settlement => new JournalSettlement(options);

interface OpenEntry {
  readonly entry: JournalEntry;
  readonly record: OrderRecord & { readonly account_id: string; readonly client_order_id: string };
}

class JournalSettlement implements Settlement {
  readonly #options: SettlementOptions;
  readonly #clock: () => number;

  constructor(options: SettlementOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
  }

  async run(until: number): Promise<SettlementReport> {
    const { journal } = this.#options;
    const startedAt = this.#clock();
    const from = turnAt(startedAt);
    const run = new SettleRun();
    const reconciled = await this.#reconcile(startedAt + (until - startedAt) / 2);
    for (const list of ['placements', 'changes'] as const)
      await this.#settleListed(
        run,
        await journal.unsettled(list, from, maxEntries),
        startedAt + (until - startedAt) * parts[list],
      );
    await this.#watch(run, await journal.unsettled('unseen', from, maxEntries), startedAt);
    const { released, reads } = await releaseEnded(from, this.#release(), until);
    const compared = Math.floor(startedAt / 60_000) % 60 === 0 && (await compareCounters(journal));
    return {
      ...run.report(this.#clock()),
      released,
      reads: run.reads + reads,
      ...(compared && { compared }),
      ...(reconciled && { reconciled }),
    };
  }

  /** Runs the reconciliation. After a failure, closed orders stay closed, and unknown entries are settled nevertheless. */
  async #reconcile(until: number): Promise<Reconciled | undefined> {
    try {
      return await this.#options.reconcile?.(until);
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return undefined;
    }
  }

  async #settleListed(run: SettleRun, listed: readonly JournalEntry[], until: number): Promise<void> {
    const opened = listed
      .filter((entry) => isLeft(entry, this.#clock()))
      .flatMap((entry) => {
        run.add(entry);
        return this.#open(entry);
      });
    for (const open of opened) if (open.record.absent?.proof === 'no_other_order') run.setApart(open);
    const startedAt = this.#clock();
    // Reading lists takes at most half of the time, so that look-ups have the rest.
    for (const account of accountsOfMany(opened))
      if (this.#clock() < startedAt + (until - startedAt) / 2) await this.#readList(run, account, opened);
    let lookedUp = 0;
    for (const open of opened) {
      if (this.#clock() >= until && lookedUp > 0) break;
      if (!run.isOpen(open)) continue;
      lookedUp++;
      await this.#lookUp(run, open);
    }
  }

  /** Compares one account's list of open orders with what an absence or an operator has settled. */
  async #watch(run: SettleRun, listed: readonly JournalEntry[], now: number): Promise<void> {
    const unseen = listed.flatMap((entry) => this.#open(entry));
    const open = unseen.filter(({ entry }) => entry.exposure !== undefined || mayBeOpen(entry, now));
    const account = accountInTurn(open, now);
    if (account !== undefined) await this.#readList(run, account, open);
    for (const one of unseen) if (!open.includes(one)) await this.#write(unwatched(one));
  }

  /** Looks up an unknown order, or one that had counted as absent: unlike the event, a look-up shows its terms. */
  async saw(order: ReadOrder): Promise<boolean> {
    const { journal, names, orders } = this.#options;
    const { account, clientOrderId } = order.state;
    const key = await orderKey(names, { account, clientOrderId });
    const entry = (await journal.read([key])).get(key);
    if (!entry) return false;
    await releaseSeen(entry, order, this.#release());
    const isWanted =
      isLeft(entry, this.#clock()) ||
      (isAbsent(entry) ? order.state.status !== 'FAILED' : isUnseen(entry.record) && !isFinal(order.state));
    const found = isWanted ? await orders.order(account, clientOrderId) : 'not_found';
    const isSettled =
      found !== 'not_found' && (await this.#settle(entry, { by: 'look_up', found })) !== undefined;
    // The event may be a repetition, because the journal was away when the order had to be counted.
    if (!isSettled) await recountShown(entry, order, this.#release());
    return isSettled;
  }

  #release(): ReleaseOptions & { readonly names: KeyedNames } {
    const { journal, names, orders, sleep = sleepWithTimer, reportFailure } = this.#options;
    return {
      journal,
      names,
      orders,
      clock: this.#clock,
      sleep,
      ...(reportFailure && { reportFailure }),
    };
  }

  /** Reads an entry's record; an unreadable one must not stop the other entries. */
  #open(entry: JournalEntry): readonly OpenEntry[] {
    try {
      const record = readRecord(entry.record);
      const { account_id, client_order_id } = record;
      return account_id === undefined || client_order_id === undefined
        ? []
        : [{ entry, record: { ...record, account_id, client_order_id } }];
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return [];
    }
  }

  async #readList(run: SettleRun, account: string, opened: readonly OpenEntry[]): Promise<void> {
    const orders = await this.#read(run, () => this.#options.orders.openOrders(account));
    const byId = new Map(orders?.map((order) => [order.state.clientOrderId, order]));
    for (const open of opened.filter(({ record }) => record.account_id === account)) {
      const found = byId.get(open.record.client_order_id);
      // An operator has ended a bracket's entry order, but one of its exits is open.
      if (!found && open.entry.state === 'accepted' && idsOf(open.record).some((id) => byId.has(id)))
        await recountKept(open.entry, this.#release()).catch(this.#options.reportFailure ?? (() => {}));
      if (found) run.settled(open, await this.#settleOrTell(open.entry, { by: 'list', found }));
    }
  }

  async #lookUp(run: SettleRun, open: OpenEntry): Promise<void> {
    const { account_id: account, client_order_id: id, kind } = open.record;
    const askedAt = this.#clock();
    const found = await this.#read(run, () => this.#options.orders.order(account, id));
    if (found === undefined) return;
    if (found !== 'not_found' && !isEarlierFailure(open.entry, found)) {
      run.proofs.set(account, 'other_order');
      const state = await this.#settleOrTell(open.entry, { by: 'look_up', found });
      // An order has the id, so the earlier empty look-up proves nothing any more.
      if (state === undefined && open.record.absent) await this.#write(withoutAbsence(open));
      run.settled(open, state);
    } else if (kind === 'placement') {
      const proof = await this.#proofOf(run, account);
      const listed = run.shown
        .get(account)
        ?.find((one) => one.state.clientOrderId === id && !isEarlierFailure(open.entry, one));
      // A list that shows the order outweighs a look-up that does not.
      if (listed)
        return run.settled(open, await this.#settleOrTell(open.entry, { by: 'list', found: listed }));
      if (proof === 'no_other_order') run.setApart(open);
      const outcome = proof && absentBy(open.entry, askedAt, proof);
      if (!outcome) return;
      const told = await this.#withOthers(open, outcome).catch(this.#options.reportFailure ?? (() => {}));
      if (told) run.settled(open, await this.#write(told));
    }
  }

  /** The outcome, but accepted if another part of the combination was: parts are placed together. */
  async #withOthers({ entry }: OpenEntry, outcome: EntryOutcome): Promise<EntryOutcome> {
    const others = outcome.state === 'refused' ? await othersOf(entry, this.#release()) : [];
    const accepted = others.find(({ state }) => state === 'accepted');
    if (!accepted) return outcome;
    const { answer = '{}' } = readRecord(accepted.record).outcome ?? {};
    return outcomeBy(entry, { state: 'accepted', evidence: 'look_up', answer }, this.#clock());
  }

  /** Whether look-ups find orders of the account at this time; undefined when they do not find a listed order. */
  async #proofOf(run: SettleRun, account: string): Promise<AbsenceProof | undefined> {
    if (!run.proofs.has(account)) run.proofs.set(account, await this.#prove(run, account));
    return run.proofs.get(account);
  }

  async #prove(run: SettleRun, account: string): Promise<AbsenceProof | undefined> {
    const { orders } = this.#options;
    const open = await this.#read(run, () => orders.openOrders(account));
    const since = this.#clock() - historyMs;
    const shown = open?.length ? open : await this.#read(run, () => orders.ordersSince(account, since));
    if (!open || !shown) return undefined;
    run.shown.set(account, shown);
    if (shown.length === 0) return 'no_other_order';
    // Begins with another order each minute: a single unreadable one must not keep the account's entries unknown.
    const first = Math.floor(this.#clock() / 60_000);
    for (let index = 0; index < Math.min(maxProofs, shown.length); index++) {
      const { state } = shown[(first + index) % shown.length]!;
      const found = await this.#read(run, () => orders.order(account, state.clientOrderId));
      if (found !== undefined) return found === 'not_found' ? undefined : 'other_order';
    }
    return undefined;
  }

  async #read<T>(run: SettleRun, read: () => Promise<T>): Promise<T | undefined> {
    run.reads++;
    try {
      return await read();
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return undefined;
    }
  }

  /**
   * @returns the entry's new state; undefined when the sight settles nothing, or another instance was faster
   * @throws JournalUnavailable when the order was accepted, and could not be counted again
   */
  async #settle(entry: JournalEntry, sight: OrderSight): Promise<EntryOutcome['state'] | undefined> {
    const write = async (outcome: EntryOutcome) => (await this.#write(outcome)) !== undefined;
    return (await settleSeen(entry, sight, write, this.#release()))?.state;
  }

  /** Settles an entry; a failure to count its order again is reported and must not stop the others. */
  async #settleOrTell(entry: JournalEntry, sight: OrderSight): Promise<EntryOutcome['state'] | undefined> {
    try {
      return await this.#settle(entry, sight);
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return 'accepted';
    }
  }

  async #write(outcome: EntryOutcome): Promise<EntryOutcome['state'] | undefined> {
    try {
      return (await this.#options.journal.finish(outcome)) ? outcome.state : undefined;
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return undefined;
    }
  }
}

function withoutAbsence({
  entry: { key, attempt },
  record: { absent: _, ...record },
}: OpenEntry): EntryOutcome {
  return { key, attempt, state: 'unknown', record: JSON.stringify(record) };
}

function unwatched({
  entry: { key, attempt, state },
  record: { outcome, ...record },
}: OpenEntry): EntryOutcome {
  const said = JSON.stringify({ ...record, outcome: { ...outcome, unwatched: true } });
  return { key, attempt, state: state === 'accepted' ? state : 'refused', record: said, over: 'unseen' };
}

/** Minutes between two lists of an account's open orders: while its newest entry is at most a day old, and later. */
const watchEvery = { young: 5, old: 60 };
const youngMs = 24 * 60 * 60_000;

/** The account whose list this run reads, at most one each minute: 1.7 % of the published limit of reads of open orders. */
function accountInTurn(unseen: readonly OpenEntry[], now: number): string | undefined {
  const accounts = [...new Set(unseen.map(({ record }) => record.account_id))].sort();
  const minute = Math.floor(now / 60_000);
  const account = accounts[minute % accounts.length];
  const isYoung = unseen.some(
    ({ record: { account_id, outcome } }) =>
      account_id === account && now - Date.parse(outcome?.at ?? '') < youngMs,
  );
  const rounds = Math.ceil(watchEvery[isYoung ? 'young' : 'old'] / accounts.length);
  return Math.floor(minute / accounts.length) % rounds === 0 ? account : undefined;
}

/** Accounts with enough entries to read their list first. */
function accountsOfMany(opened: readonly OpenEntry[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { record } of opened) counts.set(record.account_id, (counts.get(record.account_id) ?? 0) + 1);
  return [...counts].flatMap(([account, count]) => (count >= minForList ? [account] : []));
}

/** State of one run: its open entries, and its evidence for each account. */
class SettleRun {
  reads = 0;
  readonly proofs = new Map<string, AbsenceProof | undefined>();
  /** Listed orders by account. */
  readonly shown = new Map<string, readonly ReadOrder[]>();
  readonly #left = new Set<JournalEntry>();
  readonly #apart = new Set<JournalEntry>();
  readonly #counts = { accepted: 0, refused: 0 };

  add(entry: JournalEntry): void {
    this.#left.add(entry);
  }

  setApart({ entry }: OpenEntry): void {
    this.#apart.add(entry);
  }

  isOpen({ entry }: OpenEntry): boolean {
    return this.#left.has(entry);
  }

  settled({ entry }: OpenEntry, state: EntryOutcome['state'] | undefined): void {
    if (state === undefined || state === 'unknown') return;
    this.#counts[state]++;
    this.#left.delete(entry);
  }

  report(now: number): Omit<SettlementReport, 'released'> {
    const apart = [...this.#left].filter((entry) => this.#apart.has(entry)).length;
    const ages = [...this.#left].flatMap((entry) => (this.#apart.has(entry) ? [] : [now - entry.at]));
    return { ...this.#counts, left: ages.length, apart, oldestMs: Math.max(0, ...ages), reads: this.reads };
  }
}

/** Whether the outcome is unknown and no instance works on the request any more. */
const isLeft = (
  { state, sendBy, expiresAt = Number.POSITIVE_INFINITY }: JournalEntry,
  now: number,
): boolean => now < expiresAt && (state === 'unknown' || (state === 'pending' && now > sendBy));
