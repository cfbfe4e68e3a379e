/**
 * Settles what stayed unknown from evidence of the upstream, cheapest first: an event that comes anyway, one list of an
 * account's open orders for many entries, a look-up for each that is left.
 */

import type { KeyedNames } from '../access/directory.ts';
import { sleep as sleepWithTimer } from '../pauses.ts';
import { outcomeBy, type Sight, settledBy } from './evidence.ts';
import { absenceCountsAfterMs, type CountingJournal, isOver, type JournalEntry } from './journal.ts';
import type { OrderReads, ReadOrder } from './order-reads.ts';
import { orderKey } from './parts.ts';
import { type OrderRecord, readRecord } from './record.ts';
import { type ReleaseOptions, releaseEnded, releaseSeen } from './release-ended.ts';

export interface SettlementOptions {
  /** Pre-trade checks count in it: orders that have ended leave the counters. */
  readonly journal: CountingJournal;
  /** At low priority: clients come first. */
  readonly orders: Pick<OrderReads, 'openOrders' | 'order'>;
  readonly names: KeyedNames;
  /** The credential's name in stores. */
  readonly credential: () => Promise<string>;
  readonly clock?: () => number;
  /** Resolves after so many milliseconds; replace it in tests only. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** A read that failed: its entries stay unknown until the next run. No account and no order is in it. */
  readonly reportFailure?: (cause: unknown) => void;
}

/** What a run came to. */
export interface SettlementReport {
  readonly accepted: number;
  /** Of them nothing was placed, or changed. */
  readonly refused: number;
  /** Still unknown. */
  readonly left: number;
  /** How long the oldest of those has been unknown, in milliseconds; 0 of none. */
  readonly oldestMs: number;
  /** Orders that pre-trade checks count no longer. */
  readonly released: number;
  /** Requests to the upstream. */
  readonly reads: number;
}

export interface Settlement {
  /** Settles what it can until then, in milliseconds since the epoch. */
  run(until: number): Promise<SettlementReport>;
  /** An order as an event shows it. @returns whether an entry was settled by it */
  saw(order: ReadOrder): Promise<boolean>;
}

/** More is left to the next run. */
const maxEntries = 1000;
/** From so many entries of one account on, its list of open orders is read first: a page of it settles up to a hundred. */
const minForList = 3;

/**
 * @example
 * const settlement = createSettlement({ journal, orders: createGatewayOrderReads({ gateway }), names, credential });
 * await settlement.run(Date.now() + 50_000);
 */
export const createSettlement = (options: SettlementOptions): Settlement => new JournalSettlement(options);

interface Open {
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
    const { journal, credential } = this.#options;
    const listed = await journal.unsettled(await credential(), maxEntries);
    const run = new Run(listed.filter((entry) => isLeft(entry, this.#clock())));
    for (const entry of listed) this.#add(run, entry);
    for (const account of run.accountsOfMany(minForList))
      if (this.#clock() < until) await this.#readList(run, account);
    for (const open of run.inOrder(this.#clock())) {
      if (this.#clock() >= until) break;
      await this.#lookUp(run, open);
    }
    const report = run.report(this.#clock());
    const { released, reads } = await releaseEnded(await credential(), this.#release(), until);
    return { ...report, released, reads: report.reads + reads };
  }

  async saw(order: ReadOrder): Promise<boolean> {
    const { journal, names, credential } = this.#options;
    const { account, clientOrderId } = order.state;
    const key = await orderKey(names, { credential: await credential(), account, clientOrderId });
    const entry = (await journal.read([key])).get(key);
    if (!entry) return false;
    const isSettled =
      isLeft(entry, this.#clock()) &&
      (await this.#settle(entry, { by: 'event', found: order, askedAt: this.#clock() })) !== undefined;
    await releaseSeen(entry, order, this.#release());
    return isSettled;
  }

  #release(): ReleaseOptions {
    const { journal, orders, sleep = sleepWithTimer, reportFailure } = this.#options;
    return {
      journal,
      orders,
      clock: this.#clock,
      sleep,
      ...(reportFailure && { reportFailure }),
    };
  }

  /** One that cannot be read must not stop the others: it stays among those that are left. */
  #add(run: Run, entry: JournalEntry): void {
    try {
      run.add(entry);
    } catch (cause) {
      this.#options.reportFailure?.(cause);
    }
  }

  async #readList(run: Run, account: string): Promise<void> {
    const askedAt = this.#clock();
    const orders = await this.#read(run, () => this.#options.orders.openOrders(account));
    const byId = new Map(orders?.map((order) => [order.state.clientOrderId, order]));
    for (const open of run.of(account)) {
      const found = byId.get(open.record.client_order_id);
      if (found) run.settled(open, await this.#settle(open.entry, { by: 'list', found, askedAt }));
    }
  }

  async #lookUp(run: Run, open: Open): Promise<void> {
    const { account_id: account, client_order_id: id } = open.record;
    const askedAt = this.#clock();
    const found = await this.#read(run, () => this.#options.orders.order(account, id));
    if (found !== undefined)
      run.settled(open, await this.#settle(open.entry, { by: 'look_up', found, askedAt }));
  }

  async #read<T>(run: Run, read: () => Promise<T>): Promise<T | undefined> {
    run.reads++;
    try {
      return await read();
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return undefined;
    }
  }

  /** @returns what the entry is now; undefined when the sight settles nothing, or another one was faster */
  async #settle(entry: JournalEntry, sight: Sight): Promise<'accepted' | 'refused' | undefined> {
    try {
      return await this.#write(entry, sight);
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return undefined;
    }
  }

  async #write(entry: JournalEntry, sight: Sight): Promise<'accepted' | 'refused' | undefined> {
    const settled = settledBy(entry, sight);
    if (!settled) return undefined;
    const isWritten = await this.#options.journal.finish(outcomeBy(entry, settled, this.#clock()));
    return isWritten ? settled.state : undefined;
  }
}

/** The entries of one run. */
class Run {
  reads = 0;
  readonly #left: Set<JournalEntry>;
  readonly #open = new Set<Open>();
  readonly #counts = { accepted: 0, refused: 0 };

  constructor(left: readonly JournalEntry[]) {
    this.#left = new Set(left);
  }

  /** @throws for an entry that cannot be read */
  add(entry: JournalEntry): void {
    if (!this.#left.has(entry)) return;
    const record = readRecord(entry.record);
    const { account_id, client_order_id } = record;
    if (account_id === undefined || client_order_id === undefined) this.#left.delete(entry);
    else this.#open.add({ entry, record: { ...record, account_id, client_order_id } });
  }

  of(account: string): readonly Open[] {
    return [...this.#open].filter(({ record }) => record.account_id === account);
  }

  accountsOfMany(min: number): readonly string[] {
    const accounts = [...new Set([...this.#open].map(({ record }) => record.account_id))];
    return accounts.filter((account) => this.of(account).length >= min);
  }

  /**
   * First those that any look-up decides, then the youngest: an order that was taken is found at its first look-up. A
   * cancellation or replacement that does not show is decided by none, however old it is, and must not hold up the others.
   */
  inOrder(now: number): readonly Open[] {
    const decides = ({ entry, record }: Open) =>
      Number(record.kind === 'placement' && isOver(entry, now - absenceCountsAfterMs));
    return [...this.#open].sort((a, b) => decides(b) - decides(a) || b.entry.at - a.entry.at);
  }

  settled(open: Open, state: 'accepted' | 'refused' | undefined): void {
    if (state === undefined) return;
    this.#counts[state]++;
    this.#open.delete(open);
    this.#left.delete(open.entry);
  }

  report(now: number): Omit<SettlementReport, 'released'> {
    const ages = [...this.#left].map(({ at }) => now - at);
    return { ...this.#counts, left: ages.length, oldestMs: Math.max(0, ...ages), reads: this.reads };
  }
}

/** No instance is at it any more, and what became of it is not known. */
const isLeft = (
  { state, sendBy, expiresAt = Number.POSITIVE_INFINITY }: JournalEntry,
  now: number,
): boolean => now < expiresAt && (state === 'unknown' || (state === 'pending' && now > sendBy));
