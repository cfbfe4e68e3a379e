/**
 * Brings a restored journal up to date. It lacks the requests sent since the time of the backup, so orders are closed, and
 * each run of the settlement continues with these steps:
 *
 *     read on     writes the entries that the audit has since then into the journal, with their exposures
 *     raise       raises counters that are below the sum of their entries
 *     look        reads each account's orders at the upstream twice, minutes apart
 *     open        writes a checkpoint that accepts the journal as it is now
 *
 * No evidence shows whether restored limits, stops and users are right: an operator has to confirm them.
 */

import type { KeyedNames } from '../access/directory.ts';
import {
  type CheckpointStore,
  type CheckpointTable,
  nextCheckpoint,
  readCheckpoint,
  restoredTables,
  type TableNames,
} from '../guard-rails/checkpoints.ts';
import { readExposure } from '../guard-rails/exposure.ts';
import { absolute, hasLimitPrice } from '../guard-rails/order.ts';
import { clockSkewMs } from '../kernel/clock-skew.ts';
import { compareDecimals } from '../kernel/decimals.ts';
import type { OrderAuditStore } from './audit.ts';
import { type AuditLine, entryOf } from './audit-line.ts';
import { compareCounters } from './compare-counters.ts';
import { answerOf, isAbsent } from './evidence.ts';
import {
  absenceCountsAfterMs,
  type CountingJournal,
  type EntryOutcome,
  type JournalEntry,
  JournalUnavailable,
  type RecoverableJournal,
} from './journal.ts';
import { momentsIn, type OrderReads, type ReadOrder } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { orderKey } from './parts.ts';
import {
  isUnderWay,
  keepProgress,
  type Progress,
  readProgress,
  reconciliationKey,
} from './reconciliation.ts';
import { type OrderRecord, readRecord, withOutcome } from './record.ts';
import { recountShown, releaseExposure, settleSeen } from './release-ended.ts';

export interface ReconciliationOptions {
  readonly journal: CountingJournal & RecoverableJournal;
  readonly checkpoints: CheckpointStore;
  /** Present names of the tables. */
  readonly tables: TableNames;
  readonly audit: Pick<OrderAuditStore, 'read'>;
  readonly orders: Pick<OrderReads, 'accounts' | 'openOrders' | 'ordersSince'>;
  readonly names: KeyedNames;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly reportFailure: (cause: unknown) => void;
}

/** Result of a run while a table counts as restored. */
export interface Reconciled {
  /** Tables that were restored to an earlier time. While there is one, orders are closed. */
  readonly restored: readonly CheckpointTable[];
  /** Entries that were written into the journal again. */
  readonly recovered: number;
  /** Open orders that counters lack, because their sender is unknown or they are larger than their entries. */
  readonly uncounted: number;
  /** The reconciliation's next requirement; absent where no table counts as restored any more. */
  readonly waitsFor?: 'audit' | 'upstream' | 'operator';
}

/** Margin for clocks that differ, and for requests under way when the checkpoint was written. */
const marginMs = 2 * clockSkewMs;
/** Age beyond which the upstream's lists may not show an order. */
const maxAgeMs = 7 * 24 * 60 * 60_000;
const anewAfterMs = 5 * 60_000;
/** Longest delay of a line of the audit after other lines of the same time. */
const auditLagMs = 15 * 60_000;
/** Most lines of the audit that one run reads. */
const maxLines = 5000;
/** Wait between the two looks; the second one comes when every request that was under way must be visible. */
const betweenLooksMs = 5 * 60_000;
const firstLookAfterMs = absenceCountsAfterMs + clockSkewMs - betweenLooksMs;
const maxKeys = 100;

/** @returns undefined where nothing is restored. @throws JournalUnavailable, and the error of a store that is away */
export async function reconcile(
  options: ReconciliationOptions,
  until: number,
): Promise<Reconciled | undefined> {
  const { checkpoints, tables, clock } = options;
  const stored = await checkpoints.read();
  const restored = restoredTables(tables, stored);
  await nextCheckpoint(checkpoints, tables, clock());
  // Ends leftover progress: an operator has accepted the journal as it is, or the run that opened it ended too early.
  if (!restored.includes('journal') && isUnderWay(await options.journal.counters([reconciliationKey])))
    await keepProgress(options.journal, undefined);
  if (restored.length === 0) return undefined;
  const others = restored.filter((table) => table !== 'journal');
  if (others.length === restored.length)
    return { restored, recovered: 0, uncounted: 0, waitsFor: 'operator' };
  const own = stored.get('journal');
  const writtenAt = own === undefined ? 0 : readCheckpoint(own).at;
  const oldest = clock() - maxAgeMs;
  const { isClear, ...report } = await new ReconcileRun(
    options,
    Math.max(writtenAt, oldest) - marginMs,
    until,
  ).go();
  if (!isClear) return { restored, ...report };
  // The journal may lack orders too old for the lists; an operator has to find out whether one of them is open.
  if (writtenAt < oldest) return { restored, ...report, waitsFor: 'operator' };
  const isOpen = await nextCheckpoint(checkpoints, tables, clock(), ['journal']);
  if (!isOpen) return { restored, ...report };
  await keepProgress(options.journal, undefined);
  const { waitsFor: _, ...done } = report;
  return { restored: others, ...done, ...(others.length > 0 && { waitsFor: 'operator' }) };
}

class ReconcileRun {
  readonly #options: ReconciliationOptions;
  readonly #since: number;
  readonly #until: number;
  #recovered = 0;
  #uncounted = 0;

  constructor(options: ReconciliationOptions, since: number, until: number) {
    this.#options = options;
    this.#since = since;
    this.#until = until;
  }

  async go(): Promise<Omit<Reconciled, 'restored'> & { readonly isClear: boolean }> {
    const now = this.#options.clock();
    const { journal } = this.#options;
    const before = readProgress(await journal.counters([reconciliationKey]));
    const isOld = !before || now - before.ranAt > anewAfterMs || before.ranAt > now + clockSkewMs;
    let progress: Progress = isOld
      ? { noticedAt: now, ranAt: now, readTo: this.#since }
      : { ...before, ranAt: now };
    const { readTo, isWhole } = await this.#readAudit(progress);
    progress = { ...progress, readTo };
    const isRaised = isWhole && (await this.#raise());
    const { noticedAt, lookedAt } = progress;
    const mayLook = isRaised && now >= noticedAt + firstLookAfterMs;
    const isClear = mayLook && (await this.#look(noticedAt));
    const isSecond = isClear && lookedAt !== undefined && now >= lookedAt + betweenLooksMs;
    const { lookedAt: _, ...rest } = progress;
    const firstAt = lookedAt ?? now;
    await keepProgress(journal, isClear ? { ...rest, lookedAt: firstAt } : mayLook ? rest : progress);
    return {
      isClear: isSecond,
      recovered: this.#recovered,
      uncounted: this.#uncounted,
      waitsFor: !isRaised ? 'audit' : this.#uncounted > 0 ? 'operator' : 'upstream',
    };
  }

  /** Reads the audit, and writes the last state of each entry into the journal. */
  async #readAudit({ readTo, noticedAt }: Progress): Promise<{ readTo: number; isWhole: boolean }> {
    const { audit, clock } = this.#options;
    const startedAt = clock();
    const endBy = startedAt + (this.#until - startedAt) / 2;
    const last = new Map<string, AuditLine>();
    let [at, count, isWhole] = [readTo, 0, true];
    for await (const line of audit.read(Math.max(this.#since, readTo - auditLagMs), startedAt)) {
      // All lines of one moment are read in the same run, or the next run would begin with the same ones.
      if (line.at > at && line.at > readTo && (count >= maxLines || clock() >= endBy)) {
        isWhole = false;
        break;
      }
      count++;
      at = Math.max(at, line.at);
      last.set(line.entry, line);
    }
    const entries = [...last.values()].flatMap((line) => entryOf(line) ?? []);
    for (let start = 0; start < entries.length; start += maxKeys)
      await this.#recover(entries.slice(start, start + maxKeys), noticedAt);
    return { readTo: isWhole ? startedAt : at, isWhole };
  }

  async #recover(entries: readonly JournalEntry[], noticedAt: number): Promise<void> {
    const { journal, clock } = this.#options;
    const stored = await journal.read(entries.map(({ key }) => key));
    for (const entry of entries) {
      const read = stored.get(entry.key);
      const isOver = (entry.expiresAt ?? Number.POSITIVE_INFINITY) <= clock();
      if (isOver || !isBehind(read, entry, noticedAt)) continue;
      await this.#write(entry, read);
    }
  }

  /** Writes an entry, and first uncounts the exposure of the replaced one: no later run would know of it. */
  async #write(entry: JournalEntry, read: JournalEntry | undefined): Promise<void> {
    const { journal, sleep } = this.#options;
    const isCounted = read?.exposure !== undefined && read.exposure !== entry.exposure;
    if (isCounted && !(await releaseExposure(read, { journal, sleep }))) throw new JournalUnavailable();
    if (await journal.recover(entry, read)) this.#recovered++;
  }

  /** Raises counters; whether each is then at least the sum of its entries. */
  async #raise(): Promise<boolean> {
    const { journal } = this.#options;
    for (let tries = 0; tries < 2; tries++) {
      if ((await journal.exposed('-', 1)).length === 0) return true;
      const compared = await compareCounters(journal);
      if (compared?.raised === 0 && !compared.passed) return true;
    }
    return false;
  }

  /** Whether the upstream shows no open order that counters lack; false when an account cannot be read. */
  async #look(noticedAt: number): Promise<boolean> {
    const { orders, reportFailure } = this.#options;
    let isWhole = true;
    try {
      for (const account of await orders.accounts()) {
        const shown = new Map<string, ReadOrder>();
        for (const order of await orders.ordersSince(account, this.#since))
          shown.set(order.state.clientOrderId, order);
        // The list of open orders is newer, so it replaces what the history shows.
        for (const order of await orders.openOrders(account)) shown.set(order.state.clientOrderId, order);
        if (!(await this.#showsOwn(account, shown))) isWhole = false;
        const all = [...shown.values()];
        for (let start = 0; start < all.length; start += maxKeys)
          await this.#check(account, all.slice(start, start + maxKeys), noticedAt);
      }
    } catch (cause) {
      reportFailure?.(cause);
      return false;
    }
    return isWhole && this.#uncounted === 0;
  }

  /** Whether a list shows every order accepted since the restore's time; otherwise it proves nothing. */
  async #showsOwn(account: string, shown: ReadonlyMap<string, ReadOrder>): Promise<boolean> {
    const counted = await this.#options.journal.exposed('-', 10_000);
    return counted
      .filter(({ state, at, record }) => state === 'accepted' && at > this.#since && record !== '')
      .map(({ record }) => readRecord(record))
      .filter(({ account_id, client_order_id }) => account_id === account && client_order_id !== undefined)
      .every(({ client_order_id = '' }) => shown.has(client_order_id));
  }

  async #check(account: string, shown: readonly ReadOrder[], noticedAt: number): Promise<void> {
    const { journal, names } = this.#options;
    const keys = await Promise.all(
      shown.map(({ state: { clientOrderId } }) => orderKey(names, { account, clientOrderId })),
    );
    const entries = await journal.read(keys);
    for (const [index, order] of shown.entries())
      await this.#checkOne(account, keys[index]!, order, entries.get(keys[index]!), noticedAt);
  }

  async #checkOne(
    account: string,
    key: string,
    order: ReadOrder,
    entry: JournalEntry | undefined,
    noticedAt: number,
  ): Promise<void> {
    const { journal, clock, sleep } = this.#options;
    const { placedAt = noticedAt } = momentsIn(order.payload);
    const isOpen = !isFinal(order.state);
    const isKnown = entry && entry.state !== 'refused';
    if (!isKnown) {
      // The order is another program's from before, or failed, which leaves its id free.
      if (placedAt < this.#since || order.state.status === 'FAILED') return;
      const sight = { by: 'list', found: order } as const;
      const finish = (outcome: EntryOutcome) => journal.finish(outcome);
      if (entry && isAbsent(entry) && (await settleSeen(entry, sight, finish, this.#options))) return;
      const seen = seenAfterRestore({ account, key, order, at: Math.min(placedAt, clock()) });
      await this.#write(seen, entry);
      if (isOpen) this.#uncounted++;
      return;
    }
    if (!isOpen || entry.record === '') return;
    const { seen_after_restore, outcome } = readRecord(entry.record);
    if (seen_after_restore || isMore(order, entry)) this.#uncounted++;
    if (entry.state === 'accepted' && entry.exposure === undefined && outcome?.exposure !== undefined)
      await recountShown(entry, order, { journal, sleep });
  }
}

const isSeen = ({ record }: JournalEntry): boolean =>
  record !== '' && readRecord(record).seen_after_restore === true;

const rank: Readonly<Record<JournalEntry['state'], number>> = {
  pending: 0,
  unknown: 1,
  refused: 2,
  accepted: 3,
};

/** Whether the stored entry is older than the audit's. An attempt's state only advances; a later attempt replaces an earlier one. */
function isBehind(stored: JournalEntry | undefined, line: JournalEntry, noticedAt: number): boolean {
  if (!stored) return true;
  if (stored.attempt === line.attempt) return rank[stored.state] < rank[line.state];
  // The order that the upstream shows is not the refused request's.
  if (line.state === 'refused' && isSeen(stored)) return false;
  return stored.at < noticedAt - clockSkewMs && stored.at <= line.at + 2 * clockSkewMs;
}

/** Whether the order is larger or dearer than counted, because a replacement is missing from the audit. */
function isMore({ state }: ReadOrder, { exposure }: JournalEntry): boolean {
  if (exposure === undefined) return false;
  const { quantity, limitPrice = '0', stopPrice = '0', isUnlimited } = readExposure(exposure);
  const terms = JSON.parse(state.terms ?? '{}') as Readonly<Record<string, string>>;
  const exceeds = (shown: string | undefined, counted: string | undefined) =>
    shown !== undefined &&
    counted !== undefined &&
    /^-?[\d.]+$/.test(shown) &&
    compareDecimals(absolute(shown), counted) > 0;
  if (exceeds(terms.total_quantity, quantity) || exceeds(terms.stop_price, stopPrice)) return true;
  const { order_type: orderType, limit_price } = terms;
  // An order without a limit price costs what the market asks, whatever other terms the upstream shows.
  if (orderType !== undefined && !hasLimitPrice({ orderType })) return !isUnlimited;
  return exceeds(limit_price, limitPrice);
}

/** The entry of an order whose request is unknown. Without a hash, it refuses any new order of the same id. */
function seenAfterRestore({
  account,
  key,
  order,
  at,
}: {
  readonly account: string;
  readonly key: string;
  readonly order: ReadOrder;
  readonly at: number;
}): JournalEntry {
  const record: OrderRecord = {
    operation: 'placeOrder',
    kind: 'placement',
    account_id: account,
    client_order_id: order.state.clientOrderId,
    asked: order.payload,
    request_id: '',
    begun_at: new Date(at).toISOString(),
    seen_after_restore: true,
  };
  return {
    key,
    attempt: crypto.randomUUID(),
    hash: '',
    state: 'accepted',
    credential: '',
    at,
    sendBy: at,
    record: JSON.stringify(withOutcome(record, at, { evidence: 'list', answer: answerOf(order.payload) })),
    listedAs: 'placements',
  };
}
