/**
 * After a restore. A journal of an earlier time knows nothing of what was sent since, so orders are closed, and each run of
 * the settlement brings it up to date:
 *
 *     read on     what the audit has since then is written into it again: entries, and what counters have of them
 *     raise       counters that have less than their entries say
 *     look        twice, minutes apart, at what the upstream shows of each account
 *     open        the next checkpoint counts the journal as it is now
 *
 * What was restored of limits, stops and users no evidence shows: an operator says when they are right.
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
  /** What the tables are called now. */
  readonly tables: TableNames;
  readonly audit: Pick<OrderAuditStore, 'read'>;
  readonly orders: Pick<OrderReads, 'accounts' | 'openOrders' | 'ordersSince'>;
  readonly names: KeyedNames;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly reportFailure: (cause: unknown) => void;
}

/** What a run came to while something was restored. */
export interface Reconciled {
  /** Tables of an earlier time. While there is one, orders are closed. */
  readonly restored: readonly CheckpointTable[];
  /** Entries that were written again. */
  readonly recovered: number;
  /** Open orders of which it is not known who sent them, or that are more than their entries say: counters lack them. */
  readonly uncounted: number;
  /** What it waits for; absent where nothing is restored any more. */
  readonly waitsFor?: 'audit' | 'upstream' | 'operator';
}

/** By clocks that differ, and for what was under way when the checkpoint was written. */
const marginMs = 2 * clockSkewMs;
/** Older orders the upstream's lists do not show for certain. */
const maxAgeMs = 7 * 24 * 60 * 60_000;
const anewAfterMs = 5 * 60_000;
/** So much later a line of the audit may come than those of the same time. */
const auditLagMs = 15 * 60_000;
/** Of the audit in one run. */
const maxLines = 5000;
/** As with an order that does not show: the second look comes when all that was under way must be visible. */
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
  // An operator has taken the journal as it is, or the run that opened it ended too early.
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
  // What it lacks may be older than all that the lists show: whether something of that is open an operator has to find out.
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

  /** The last that the audit knows of each entry, in the order in which the journal was written. */
  async #readAudit({ readTo, noticedAt }: Progress): Promise<{ readTo: number; isWhole: boolean }> {
    const { audit, clock } = this.#options;
    const startedAt = clock();
    const endBy = startedAt + (this.#until - startedAt) / 2;
    const last = new Map<string, AuditLine>();
    let [at, count, isWhole] = [readTo, 0, true];
    for await (const line of audit.read(Math.max(this.#since, readTo - auditLagMs), startedAt)) {
      // A moment whose lines were begun is read to its end, or the next run would begin with the same ones.
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

  /** What counters have of the entry that is replaced leaves them with it: no later run would know of it. */
  async #write(entry: JournalEntry, read: JournalEntry | undefined): Promise<void> {
    const { journal, sleep } = this.#options;
    const isCounted = read?.exposure !== undefined && read.exposure !== entry.exposure;
    if (isCounted && !(await releaseExposure(read, { journal, sleep }))) throw new JournalUnavailable();
    if (await journal.recover(entry, read)) this.#recovered++;
  }

  /** Whether each counter has at least what entries say. */
  async #raise(): Promise<boolean> {
    const { journal } = this.#options;
    for (let tries = 0; tries < 2; tries++) {
      if ((await journal.exposed('-', 1)).length === 0) return true;
      const compared = await compareCounters(journal);
      if (compared?.raised === 0 && !compared.passed) return true;
    }
    return false;
  }

  /** Whether the upstream shows no open order that counters lack. An account that cannot be read says nothing. */
  async #look(noticedAt: number): Promise<boolean> {
    const { orders, reportFailure } = this.#options;
    let isWhole = true;
    try {
      for (const account of await orders.accounts()) {
        const shown = new Map<string, ReadOrder>();
        for (const order of await orders.ordersSince(account, this.#since))
          shown.set(order.state.clientOrderId, order);
        // What is open now counts for more.
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

  /** A list that lacks an order which an answer accepted since then is no proof of anything. */
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
      // Another program's, of before; or one that failed, which leaves its id free.
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

/** Of one attempt what is known only grows. Another attempt took the place of one of before. */
function isBehind(stored: JournalEntry | undefined, line: JournalEntry, noticedAt: number): boolean {
  if (!stored) return true;
  if (stored.attempt === line.attempt) return rank[stored.state] < rank[line.state];
  // An order that the upstream shows is not that of a request that was refused.
  if (line.state === 'refused' && isSeen(stored)) return false;
  return stored.at < noticedAt - clockSkewMs && stored.at <= line.at + 2 * clockSkewMs;
}

/** A replacement whose answer came after the last line of its order made it larger, or dearer, than counters know. */
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

/** Without a hash: which request asked for it is not known. Its id is never sent as a new order's. */
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
