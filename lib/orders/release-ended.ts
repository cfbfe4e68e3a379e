/**
 * Takes orders out of the counters of pre-trade checks when the upstream shows that they are not open any more. An order
 * that it misses stays counted: counters may be too high, but never too low.
 */

import type { KeyedNames } from '../access/directory.ts';
import { readCounter, type StoredCounter, without } from '../guard-rails/counter.ts';
import { counting, readExposure, releasing } from '../guard-rails/exposure.ts';
import { textMembers } from '../kernel/json-members.ts';
import { isFailureBefore, type OrderSight, outcomeBy, settledBy } from './evidence.ts';
import {
  type CountedChanges,
  type CountingJournal,
  type EntryOutcome,
  isOver,
  type JournalEntry,
  JournalUnavailable,
} from './journal.ts';
import type { OrderReads, ReadOrder } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { bracketIn, idOf, orderKey, ordersIn } from './parts.ts';
import { type OrderRecord, readRecord } from './record.ts';

export interface ReleaseOptions {
  readonly journal: CountingJournal;
  readonly orders: Pick<OrderReads, 'openOrders' | 'order'>;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly reportFailure?: (cause: unknown) => void;
}

/** Result of a run. */
interface Released {
  /** Orders that were taken out of the counters. */
  readonly released: number;
  /** Requests to the upstream. */
  readonly reads: number;
}

/** Most entries of one run; the next run continues. */
const maxEntries = 1000;
/** Age from which a list shows an order for certain; lists lag behind. */
const settledMs = 30_000;

interface CountedEntry {
  readonly entry: JournalEntry;
  readonly record: OrderRecord;
  readonly account: string;
  /** Several ids for a bracket, whose entry order counts for all, and for a replacement of several other programs' orders. */
  readonly ids: readonly string[];
}

/**
 * Reads the list of open orders of each account with counted orders, and looks up each order that is not in it. Users take
 * turns, so that one user's orders that never show do not delay another's.
 *
 * @param from the key at which the run begins
 * @param until in milliseconds since the epoch
 * @throws JournalUnavailable
 */
export async function releaseEnded(from: string, options: ReleaseOptions, until: number): Promise<Released> {
  const { journal, clock } = options;
  const entries = await journal.exposed(from, maxEntries);
  const reads = new Reads(options);
  let released = 0;
  const release = async (entry: JournalEntry) => {
    if (await tryRelease(entry, options)) released++;
  };
  // A refused entry placed nothing; its own request failed to uncount it.
  for (const entry of entries) if (entry.state === 'refused') await release(entry);
  const queues = byUser(entries.filter((entry) => mayHaveEnded(entry, clock())));
  for (let queue = queues.shift(); queue; queue = queues.shift()) {
    const readsBefore = reads.made;
    while (queue.length > 0 && reads.made < readsBefore + readsInTurn) {
      // One order is looked at even when no time is left.
      if (clock() >= until && reads.made > 1) return { released, reads: reads.made };
      const counted = queue.shift()!;
      if (await hasAllEnded(counted, reads)) await release(counted.entry);
    }
    if (queue.length > 0) queues.push(queue);
  }
  return { released, reads: reads.made };
}

/** Reads in one user's turn; the account's list is one of them. */
const readsInTurn = 5;

/** The reads of one run, each made once. */
class Reads {
  readonly #options: Pick<ReleaseOptions, 'orders' | 'reportFailure'>;
  readonly #open = new Map<string, ReadonlySet<string> | undefined>();
  readonly #orders = new Map<string, ReadOrder | 'not_found' | undefined>();
  made = 0;

  constructor(options: ReleaseOptions) {
    this.#options = options;
  }

  /** Ids that the account's list of open orders shows. */
  async open(account: string): Promise<ReadonlySet<string> | undefined> {
    if (!this.#open.has(account)) {
      const list = await this.#read(() => this.#options.orders.openOrders(account));
      const open = list?.filter(({ state }) => !isFinal(state)).map(({ state }) => state.clientOrderId);
      this.#open.set(account, open && new Set(open));
    }
    return this.#open.get(account);
  }

  async order(account: string, id: string): Promise<ReadOrder | 'not_found' | undefined> {
    const key = JSON.stringify([account, id]);
    if (!this.#orders.has(key))
      this.#orders.set(key, await this.#read(() => this.#options.orders.order(account, id)));
    return this.#orders.get(key);
  }

  async #read<T>(reading: () => Promise<T>): Promise<T | undefined> {
    this.made++;
    try {
      return await reading();
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return undefined;
    }
  }
}

async function hasAllEnded(counted: CountedEntry, reads: Reads): Promise<boolean> {
  const { entry, account, ids } = counted;
  const open = await reads.open(account);
  if (!open || ids.some((id) => open.has(id))) return false;
  for (const id of ids) {
    const found = await reads.order(account, id);
    const isDropped = found === 'not_found' && (await endedWithMaster(counted, id, reads));
    if (!isDropped && !hasEnded(entry, found)) return false;
  }
  return true;
}

/**
 * Takes an order out of the counters when an event shows its end. A `FAILED` may be an earlier request's, whose refusal
 * freed the id. A bracket's entry order also counts for its exits, which this event does not show: `releaseEnded` looks
 * at all of them.
 *
 * @throws JournalUnavailable
 */
export async function releaseSeen(entry: JournalEntry, { state }: ReadOrder, options: ReleaseOptions) {
  if (!isFinal(state) || state.status === 'FAILED') return false;
  return !isBracketEntry(entry) && (await tryRelease(entry, options));
}

async function tryRelease(entry: JournalEntry, { journal, sleep, reportFailure }: ReleaseOptions) {
  if (entry.exposure === undefined) return false;
  try {
    return await releaseExposure(entry, { journal, sleep });
  } catch (cause) {
    reportFailure?.(cause);
    return false;
  }
}

/** Whether the entry's order may have ended: requests under way may still be placed, and unknown ones are settled first. */
export function mayHaveEnded(entry: JournalEntry, now: number): boolean {
  const isReplacement = entry.expiresAt !== undefined;
  return (entry.state === 'accepted' || (isReplacement && isOver(entry, now))) && now > entry.at + settledMs;
}

/** Whether a look-up shows the order's end. An accepted order that does not show may be open, so it counts. */
const hasEnded = (entry: JournalEntry, found: ReadOrder | 'not_found' | undefined): boolean =>
  found !== undefined && found !== 'not_found' && isFinal(found.state) && !isFailureBefore(entry, found);

const dependent: ReadonlySet<string | undefined> = new Set(['STOP_PROFIT', 'STOP_LOSS', 'OTO', 'OTOCO']);

/**
 * Whether a part ended with its master: a master that is cancelled or fails before any fill ends the parts that depend on
 * it, and the upstream no longer shows them. (seen live)
 */
async function endedWithMaster(
  { entry, record: { asked, list }, account }: CountedEntry,
  id: string,
  reads: Reads,
): Promise<boolean> {
  const parts = (list === undefined ? [] : ordersIn(asked, list)).map((order) =>
    textMembers(order, ['client_order_id', 'combo_type']),
  );
  const own = parts.find((part) => part?.get('client_order_id') === id);
  const [master, ...more] = parts.filter((part) => part?.get('combo_type') === 'MASTER');
  const masterId = master?.get('client_order_id');
  if (!dependent.has(own?.get('combo_type')) || masterId === undefined || more.length > 0) return false;
  const found = await reads.order(account, masterId);
  if (found === undefined || found === 'not_found' || isFailureBefore(entry, found)) return false;
  return ['CANCELLED', 'FAILED'].includes(found.state.status) && found.state.filled === '0';
}

/** Queues of counted entries by user; without a known user, by account. */
function byUser(entries: readonly JournalEntry[]): CountedEntry[][] {
  const users = new Map<string, CountedEntry[]>();
  for (const entry of entries) {
    const counted = countedIn(entry);
    if (!counted) continue;
    const name = counted.record.user ?? `account ${counted.account}`;
    const queue = users.get(name) ?? [];
    queue.push(counted);
    users.set(name, queue);
  }
  return [...users.values()];
}

export function idsOf(record: OrderRecord): readonly string[] {
  const { client_order_id: id } = record;
  if (id === undefined) return ordersIn(record.asked, 'modify_orders').flatMap((order) => idOf(order) || []);
  const bracket = bracketIn(record);
  return bracket?.entry === id ? bracket.ids : [id];
}

/** The entry with its account and order ids; undefined when it was sealed with another identity key. */
export function countedIn(entry: JournalEntry): CountedEntry | undefined {
  if (entry.record === '') return undefined;
  const record = readRecord(entry.record);
  const { account_id: account } = record;
  const ids = idsOf(record);
  return account === undefined || ids.length === 0 ? undefined : { entry, record, account, ids };
}

const isBracketEntry = (entry: JournalEntry): boolean => (countedIn(entry)?.ids.length ?? 0) > 1;

/** Most tries of a change: other orders of the same scopes change the counters meanwhile. */
const maxTries = 8;
const pauseMs = 20;

/**
 * Takes refused orders, which had no effect, out of the rate counters that others share. Only their own request does this,
 * once; if it fails, they count for as long as any order does.
 *
 * @param orders number of refused orders by counter
 * @throws JournalUnavailable
 */
export async function uncount(
  at: number,
  orders: ReadonlyMap<string, number>,
  { journal, sleep }: ReleaseParts,
): Promise<void> {
  for (let tries = 0; orders.size > 0 && tries < maxTries; tries++) {
    if (tries > 0) await sleep(pauseMs * tries * (0.5 + Math.random()));
    const counters = (await journal.counters([...orders.keys()])).map((stored) => ({
      key: stored.key,
      revision: stored.revision,
      next: JSON.stringify(without(readCounter(stored), at, orders.get(stored.key) ?? 0)),
    }));
    if ((await journal.change({ counters, exposures: [] })) === 'changed') return;
  }
}

export interface ReleaseParts {
  readonly journal: CountingJournal;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Takes an order out of the counters.
 *
 * @param entry the entry of an order that was refused, or that the upstream shows as filled, cancelled or failed
 * @returns false when other changes were faster too often; the entry then stays counted, and is released later
 * @throws JournalUnavailable
 */
export async function releaseExposure(
  { key, attempt, exposure: first, state }: Pick<JournalEntry, 'key' | 'attempt' | 'exposure' | 'state'>,
  parts: ReleaseParts,
): Promise<boolean> {
  const isRefused = state === 'refused' && { state };
  let exposure = first;
  for (let tries = 0; exposure !== undefined; tries++) {
    if (tries === maxTries) return false;
    const before = exposure;
    const changed = await changeCounted(parts, tries, before, (counters) => ({
      counters: releasing(readExposure(before), counters),
      exposures: [{ key, attempt, before, next: undefined, ...isRefused }],
    }));
    if (changed === 'changed') return true;
    if (!changed.exposures) continue;
    // A replacement has changed the exposure, another instance has released it, or another attempt has taken the entry over.
    const entry = (await parts.journal.read([key])).get(key);
    const isSame = entry?.attempt === attempt && (!isRefused || entry.state === state);
    exposure = isSame ? entry.exposure : undefined;
  }
  return true;
}

/**
 * Settles an entry by a sight of its order, and counts an order again that had counted as not placed.
 *
 * @param write writes the outcome; resolves to false when the entry did not accept it
 * @returns the written outcome; undefined when nothing was written
 * @throws JournalUnavailable when the order was accepted, and could not be counted again
 */
export async function settleSeen(
  entry: JournalEntry,
  sight: OrderSight,
  write: (outcome: EntryOutcome) => Promise<boolean>,
  parts: ReleaseParts & { readonly clock: () => number; readonly names: KeyedNames },
): Promise<EntryOutcome | undefined> {
  const settled = settledBy(entry, sight);
  const outcome = settled && outcomeBy(entry, settled, parts.clock());
  if (!outcome || !(await write(outcome))) return undefined;
  // Another instance may have uncounted the order since the entry was read.
  const { exposure: _, ...bare } = entry;
  const settledEntry = { ...bare, ...outcome };
  if (outcome.state !== 'accepted') return outcome;
  const others = await othersOf(entry, parts);
  if (others.length === 0) await recountShown(settledEntry, sight.found, parts);
  for (const other of others) {
    const { answer = '{}' } = readRecord(outcome.record).outcome ?? {};
    const said = { state: 'accepted', evidence: sight.by, answer } as const;
    if (other.state !== 'accepted') await write(outcomeBy(other, said, parts.clock()));
  }
  // All parts count again even if this one has ended: a bracket's entry order counts for its exits.
  if (others.length > 0) for (const one of [settledEntry, ...others]) await recountKept(one, parts);
  return outcome;
}

/** The entries of the other parts of a combination; parts are placed together, so a sight of one is evidence for all. */
export async function othersOf(
  { key, attempt, record: text }: JournalEntry,
  { journal, names }: Pick<ReleaseOptions, 'journal'> & { readonly names: KeyedNames },
): Promise<readonly JournalEntry[]> {
  const { account_id: account = '', list, asked } = readRecord(text);
  const ids = list === undefined ? [] : ordersIn(asked, list).map(idOf);
  if (ids.length < 2) return [];
  const keys = await Promise.all(ids.map((clientOrderId) => orderKey(names, { account, clientOrderId })));
  const entries = await journal.read(keys.filter((one) => one !== key));
  return [...entries.values()].filter((one) => one.attempt === attempt);
}

/**
 * Counts an order again with the exposure that its entry kept, unless it is counted already.
 *
 * @throws JournalUnavailable
 */
export async function recountKept(entry: JournalEntry, parts: ReleaseParts): Promise<void> {
  const next = entry.exposure ?? readRecord(entry.record).outcome?.exposure;
  if (next !== undefined) await recount(entry, next, parts);
}

/**
 * Counts an order again that look-ups did not find, and that shows after all.
 *
 * @throws JournalUnavailable, also when other changes were faster too often: the event that showed the order comes again
 */
export async function recountShown(
  entry: JournalEntry,
  { state }: ReadOrder,
  parts: ReleaseParts,
): Promise<void> {
  if (entry.state !== 'accepted' || entry.exposure !== undefined) return;
  // A bracket's entry order counts for its exits, which may be open.
  if (!isFinal(state) || isBracketEntry(entry)) await recountKept(entry, parts);
}

/**
 * Counts an order again, unless its entry has an exposure, or belongs to another attempt.
 *
 * @throws JournalUnavailable
 */
export async function recount(
  { key, attempt }: Pick<JournalEntry, 'key' | 'attempt'>,
  next: string,
  parts: ReleaseParts,
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) {
    const changed = await changeCounted(parts, tries, next, (counters) => ({
      counters: counting(readExposure(next), counters),
      exposures: [{ key, attempt, before: undefined, next }],
    }));
    if (changed === 'changed' || changed.exposures) return;
  }
  throw new JournalUnavailable();
}

async function changeCounted(
  { journal, sleep }: ReleaseParts,
  tries: number,
  exposure: string,
  changesOf: (counters: ReadonlyMap<string, StoredCounter>) => CountedChanges,
) {
  if (tries > 0) await sleep(pauseMs * tries * (0.5 + Math.random()));
  const stored = await journal.counters(Object.keys(readExposure(exposure).counted));
  return journal.change(changesOf(new Map(stored.map((one) => [one.key, one]))));
}
