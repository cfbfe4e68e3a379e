/**
 * Cancels what is open, for those who asked for it: each run lists the open orders and sends a cancel for each that a
 * request means, until a list that is late enough shows none.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { MassCancel, MassCancelStore } from '../guard-rails/mass-cancels.ts';
import type { JournalEntry, OrderJournal } from './journal.ts';
import { type CancelGroup, groupsOf, inParallel } from './mass-cancel-groups.ts';
import {
  isKnownScope,
  isLateEnough,
  mayBecomeOrder,
  mayStillAppear,
  meansAccount,
  meansOrder,
  type OpenOrder,
  openOrderOf,
} from './mass-cancel-scope.ts';
import type { OrderReads } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { orderKey } from './parts.ts';

/** `refused`: it had no effect. `unknown`: it was sent, and what became of it is not known. */
export type CancelOutcome = 'accepted' | 'refused' | 'unknown';

/** @param endBy when the answer is needed, in milliseconds since the epoch */
export type CancelOrder = (
  account: string,
  clientOrderId: string,
  idempotencyKey: string,
  endBy?: number,
) => Promise<CancelOutcome>;

export interface MassCancelsOptions {
  readonly store: Pick<MassCancelStore, 'open' | 'finish'>;
  readonly orders: Pick<OrderReads, 'accounts' | 'openOrders'>;
  /** Through the gateway's hand-over: `createGatewayCancels`. */
  readonly cancel: CancelOrder;
  /** The journal of orders, which says who placed an order, and when. */
  readonly journal: Pick<OrderJournal, 'read' | 'unsettled'>;
  readonly names: KeyedNames;
  /** The credential's name in stores. */
  readonly credential: () => Promise<string>;
  readonly clock?: () => number;
  /** What failed, and is tried again in the next run. No account and no order is in it. */
  readonly reportFailure?: (cause: unknown) => void;
}

/** What a run came to. */
export interface MassCancelReport {
  /** Requests that were open when the run began. */
  readonly requests: number;
  /** Requests of which nothing is open any more. */
  readonly finished: number;
  /** Cancels, by what became of them. */
  readonly accepted: number;
  readonly refused: number;
  readonly unknown: number;
  /** Orders whose cancel was not accepted in this run, those included that it did not come to. */
  readonly left: number;
  /** Accounts whose open orders could not be read, or not in time; 1 where it is not known which accounts there are. */
  readonly unread: number;
  /** How long the oldest request is open that is not finished, in milliseconds; 0 of none. */
  readonly oldestMs: number;
}

export interface MassCancels {
  /**
   * No cancel is under way later than `until`, in milliseconds since the epoch, and no list is begun: one that was takes as
   * long as the reads of orders allow it.
   *
   * @throws the store's error when it cannot say what is to be cancelled
   */
  run(until: number): Promise<MassCancelReport>;
}

/**
 * A cancel is sent once in this time, however many runs there are: the next one is for what a later list still shows. Runs
 * come each minute.
 */
const windowMs = 50_000;
/** Accounts at a time, and cancels of each at a time: the limiter decides how many of them leave. */
const width = 4;
const maxKeys = 100;
/** More unsettled entries than these, and it is not known whose they are. */
const maxUnsettled = 1000;

/**
 * @example
 * const massCancels = createMassCancels({ store, orders, cancel, journal, names, credential });
 * await massCancels.run(Date.now() + 25_000);
 */
export const createMassCancels = (options: MassCancelsOptions): MassCancels => ({
  run: (until) => new Run(options, until).run(),
});

/** What a list of an account's open orders says. */
interface Sight {
  /** When it was asked for. */
  readonly askedAt: number;
  /** Whether it is known of each order who placed it. */
  readonly isWhole: boolean;
  readonly open: readonly OpenOrder[];
}

interface Account {
  readonly id: string;
  /** Keyed. */
  readonly name: string;
}

class Run {
  readonly #options: MassCancelsOptions;
  readonly #until: number;
  readonly #clock: () => number;
  readonly #sights = new Map<string, Sight>();
  readonly #counts = { accepted: 0, refused: 0, unknown: 0, left: 0 };
  readonly #window: number;
  #unsettled: Promise<readonly JournalEntry[] | undefined> | undefined;

  constructor(options: MassCancelsOptions, until: number) {
    this.#options = options;
    this.#until = until;
    this.#clock = options.clock ?? Date.now;
    this.#window = Math.floor(this.#clock() / windowMs);
  }

  async run(): Promise<MassCancelReport> {
    const requests = await this.#options.store.open();
    const accounts = requests.length > 0 ? await this.#try(() => this.#accounts()) : [];
    const concerned = (accounts ?? []).filter(({ name }) => requests.some((one) => meansAccount(one, name)));
    await inParallel(width, concerned, async (account) => {
      if (this.#isOver()) return;
      await this.#try(() =>
        this.#serve(
          account,
          requests.filter((one) => meansAccount(one, account.name)),
        ),
      );
    });
    const left: MassCancel[] = [];
    for (const request of requests)
      if (!accounts || !(await this.#finish(request, accounts))) left.push(request);
    const now = this.#clock();
    return {
      requests: requests.length,
      finished: requests.length - left.length,
      ...this.#counts,
      unread: accounts ? concerned.length - this.#sights.size : 1,
      oldestMs: Math.max(0, ...left.map(({ at }) => now - at)),
    };
  }

  /** In an order by chance, so that the accounts that come last are others in each run. */
  async #accounts(): Promise<readonly Account[]> {
    const { orders, names } = this.#options;
    const ids = [...new Set(await orders.accounts())];
    const all = ids.map(async (id) => ({
      id,
      name: await names.nameOf('account', id),
      rank: await this.#keyOf(id),
    }));
    return (await Promise.all(all)).sort((a, b) => (a.rank < b.rank ? -1 : 1));
  }

  async #serve(account: Account, requests: readonly MassCancel[]): Promise<void> {
    const askedAt = this.#clock();
    const listed = await this.#options.orders.openOrders(account.id);
    const byId = new Map(listed.map((order) => [order.state.clientOrderId, order]));
    const open = [...byId.values()].filter(({ state }) => !isFinal(state));
    const entries = await this.#try(() =>
      this.#entriesOf(
        open.map(({ state }) => state.clientOrderId),
        account.id,
      ),
    );
    let isWhole = entries !== undefined;
    const known = open.map((order): OpenOrder => {
      try {
        return openOrderOf(order, entries?.get(order.state.clientOrderId));
      } catch (cause) {
        isWhole = false;
        this.#options.reportFailure?.(cause);
        return openOrderOf(order, undefined);
      }
    });
    this.#sights.set(account.id, { askedAt, isWhole, open: known });
    const meant = known.filter((one) => requests.some((request) => meansOrder(request, one)));
    const keys = new Map<string, string>();
    for (const { order } of meant)
      keys.set(order.state.clientOrderId, await this.#keyOf(account.id, order.state.clientOrderId));
    await inParallel(width, groupsOf(meant, keys), (group) => this.#cancelGroup(account.id, group, keys));
  }

  /** By the ids of the orders. */
  async #entriesOf(ids: readonly string[], account: string): Promise<ReadonlyMap<string, JournalEntry>> {
    const { journal, names, credential } = this.#options;
    const found = new Map<string, JournalEntry>();
    const name = await credential();
    for (let start = 0; start < ids.length; start += maxKeys) {
      const keys = await Promise.all(
        ids.slice(start, start + maxKeys).map(async (clientOrderId) => {
          const key = await orderKey(names, { credential: name, account, clientOrderId });
          return { clientOrderId, key };
        }),
      );
      const entries = await journal.read(keys.map(({ key }) => key));
      for (const { clientOrderId, key } of keys) {
        const entry = entries.get(key);
        if (entry) found.set(clientOrderId, entry);
      }
    }
    return found;
  }

  /** The same for one order, or account, in all runs of a window; in no order that another window has. */
  #keyOf(...texts: readonly string[]): Promise<string> {
    return this.#options.names.nameOf('entry', 'mass-cancel', `${this.#window}`, ...texts);
  }

  async #cancelGroup(
    account: string,
    { ids, hasMaster }: CancelGroup,
    keys: ReadonlyMap<string, string>,
  ): Promise<void> {
    for (const [index, id] of ids.entries()) {
      const outcome = this.#isOver() ? undefined : await this.#cancel(account, id, keys.get(id) ?? '');
      if (outcome) this.#counts[outcome]++;
      if (outcome !== 'accepted') this.#counts.left++;
      // What is left of the combination after all, the next list shows.
      else if (hasMaster && index === 0) return;
    }
  }

  async #cancel(account: string, clientOrderId: string, key: string) {
    const sent = await this.#try(() => this.#options.cancel(account, clientOrderId, key, this.#until));
    return sent ?? 'unknown';
  }

  /** Whether nothing of the request is open, and nothing can be any more. */
  async #finish(request: MassCancel, accounts: readonly Account[]): Promise<boolean> {
    if (!isKnownScope(request)) return false;
    const isClear = accounts
      .filter(({ name }) => meansAccount(request, name))
      .every(({ id }) => {
        const sight = this.#sights.get(id);
        if (!sight?.isWhole || !isLateEnough(request, sight.askedAt)) return false;
        return !sight.open.some((one) => meansOrder(request, one));
      });
    if (!isClear || !isLateEnough(request, this.#clock()) || (await this.#isAwaited(request))) return false;
    return (await this.#try(() => this.#options.store.finish(request))) ?? false;
  }

  /** Whether an order whose outcome is unknown may be one that the request means. */
  async #isAwaited(request: MassCancel): Promise<boolean> {
    const { names, journal, credential } = this.#options;
    if (!mayStillAppear(request, this.#clock())) return false;
    this.#unsettled ??= this.#try(async () => journal.unsettled(await credential(), maxUnsettled));
    const entries = await this.#unsettled;
    if (!entries || entries.length >= maxUnsettled) return true;
    for (const entry of entries) {
      const may = await this.#try(() => mayBecomeOrder(request, entry, (id) => names.nameOf('account', id)));
      if (may ?? true) return true;
    }
    return false;
  }

  /** Undefined for what failed: it stops nothing else. */
  async #try<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (cause) {
      this.#options.reportFailure?.(cause);
      return undefined;
    }
  }

  #isOver(): boolean {
    return this.#clock() >= this.#until;
  }
}
