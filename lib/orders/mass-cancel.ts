/**
 * Cancels what is open, for those who asked for it: each run lists the open orders and sends a cancel for each that a
 * request means, until a list that is late enough shows none.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { MassCancel, MassCancelStore } from '../guard-rails/mass-cancels.ts';
import { textMembers } from '../kernel/json-members.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { OrderJournal } from './journal.ts';
import { isKnownScope, isLateEnough, meansAccount, meansOrder, type OpenOrder } from './mass-cancel-scope.ts';
import { type OpenOrders, readOpenOrders } from './open-orders.ts';
import type { OrderReads } from './order-reads.ts';

/** Outcome of a cancel. `refused`: it had no effect. `unknown`: it was sent, and its outcome is not known. */
export type CancelOutcome = 'accepted' | 'refused' | 'unknown';

/** @param endBy when the answer is needed, in milliseconds since the epoch */
export type CancelOrder = (
  account: string,
  clientOrderId: string,
  idempotencyKey: string,
  endBy?: number,
) => Promise<CancelOutcome>;

export interface MassCancelsWiring {
  readonly store: Pick<MassCancelStore, 'open' | 'finish'>;
  readonly orders: Pick<OrderReads, 'accounts' | 'openOrders'>;
  /** Sends one cancel through the gateway's hand-over: `createGatewayCancels`. */
  readonly cancel: CancelOrder;
  /** The journal of orders, which shows who placed an order, and when. */
  readonly journal: Pick<OrderJournal, 'read'>;
  readonly names: KeyedNames;
  readonly clock: () => number;
  /** Called with a failure, after which the next run tries again. It names no account and no order. */
  readonly reportFailure: (cause: unknown) => void;
}

export type MassCancelsOptions = OptionsOf<
  MassCancelsWiring,
  'store' | 'orders' | 'cancel' | 'journal' | 'names'
>;

/** Result of a run. */
export interface MassCancelReport {
  /** Requests that were open when the run began. */
  readonly requests: number;
  /** Requests whose orders are all closed, and to which no late order can be added: about a quarter of an hour later. */
  readonly finished: number;
  /** Numbers of cancels by their outcome. */
  readonly accepted: number;
  readonly refused: number;
  readonly unknown: number;
  /** Orders whose cancel was not accepted in this run, or not sent in time. */
  readonly left: number;
  /** Accounts whose open orders could not be read in time; 1 when the list of accounts could not be read. */
  readonly unread: number;
  /** Age, in milliseconds, of the oldest request whose orders are open or could not be read; 0 without such a request. */
  readonly oldestMs: number;
}

export interface MassCancels {
  /**
   * Carries out the open requests. After `until`, in milliseconds since the epoch, no cancel is under way and no list is
   * begun; a list under way takes as long as the reads of orders allow.
   *
   * @throws the store's error when the open requests cannot be read
   */
  run(until: number): Promise<MassCancelReport>;
}

/**
 * Window in which an order's cancel is sent only once, although runs start each minute. An order that a later list still
 * shows gets another cancel in the next window.
 */
const windowMs = 50_000;
/** Accounts at a time, and cancels of each at a time: the limiter decides how many of them leave. */
const width = 4;

/**
 * @example
 * const massCancels = createMassCancels({ store, orders, cancel, journal, names });
 * await massCancels.run(Date.now() + 25_000);
 */
export const createMassCancels = (options: MassCancelsOptions): MassCancels => ({
  run: (until) => new CancelRun(options, until).run(),
});

interface OpenAccount {
  readonly id: string;
  /** Keyed name of the account. */
  readonly name: string;
}

class CancelRun {
  readonly #options: MassCancelsOptions;
  readonly #until: number;
  readonly #clock: () => number;
  readonly #sights = new Map<string, OpenOrders>();
  readonly #counts = { accepted: 0, refused: 0, unknown: 0, left: 0 };
  readonly #startedAt: number;
  readonly #window: number;

  constructor(options: MassCancelsOptions, until: number) {
    this.#options = options;
    this.#until = until;
    this.#clock = options.clock ?? Date.now;
    this.#startedAt = this.#clock();
    this.#window = Math.floor(this.#startedAt / windowMs);
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
    const open = requests.filter((request) => !accounts || !this.#isClear(request, accounts));
    let finished = 0;
    for (const request of requests)
      if (accounts && !open.includes(request) && (await this.#finish(request, accounts))) finished++;
    const now = this.#clock();
    return {
      requests: requests.length,
      finished,
      ...this.#counts,
      unread: accounts ? concerned.length - this.#sights.size : 1,
      // With a clock that is ahead, a request may seem to come from the future; it is open nevertheless.
      oldestMs: open.length > 0 ? Math.max(1, ...open.map(({ at }) => now - at)) : 0,
    };
  }

  /** The accounts in a random order, so that other accounts come last in another window. */
  async #accounts(): Promise<readonly OpenAccount[]> {
    const { orders, names } = this.#options;
    const ids = [...new Set(await orders.accounts())];
    const all = ids.map(async (id) => ({
      id,
      name: await names.nameOf('account', id),
      rank: await this.#keyOf(id),
    }));
    return (await Promise.all(all)).sort((a, b) => (a.rank < b.rank ? -1 : 1));
  }

  async #serve(account: OpenAccount, requests: readonly MassCancel[]): Promise<void> {
    const sight = await readOpenOrders(this.#options, account.id);
    this.#sights.set(account.id, sight);
    const meant = sight.orders.filter((one) => requests.some((request) => meansOrder(request, one)));
    const keys = new Map<string, string>();
    for (const { order } of meant)
      keys.set(order.state.clientOrderId, await this.#keyOf(account.id, order.state.clientOrderId));
    await inParallel(width, groupsOf(meant, keys), (group) => this.#cancelGroup(account.id, group, keys));
  }

  /** Idempotency key and rank of an order or account: the same in all runs of one window, different in the next. */
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
      // The master's cancel takes the others with it; the next list shows any that remain.
      else if (hasMaster && index === 0) return;
    }
  }

  async #cancel(account: string, clientOrderId: string, key: string) {
    const sent = await this.#try(() => this.#options.cancel(account, clientOrderId, key, this.#until));
    return sent ?? 'unknown';
  }

  /** Whether the lists of all accounts of the request show none of its orders. */
  #isClear(request: MassCancel, accounts: readonly OpenAccount[]): boolean {
    const sights = accounts
      .filter(({ name }) => meansAccount(request, name))
      .map(({ id }) => this.#sights.get(id));
    return (
      // Every app key has accounts, so an empty list of them proves nothing.
      accounts.length > 0 &&
      isKnownScope(request) &&
      sights.every((sight) => sight?.isWhole && !sight.orders.some((one) => meansOrder(request, one)))
    );
  }

  /**
   * Finishes a clear request when its lists were read so late that no order on its way can come any more. Pages of a list
   * shift when orders leave it, and may miss one, so the lists are read once more while nothing is being cancelled.
   */
  async #finish(request: MassCancel, accounts: readonly OpenAccount[]): Promise<boolean> {
    if (!isLateEnough(request, this.#startedAt)) return false;
    for (const { id, name } of accounts) {
      if (!meansAccount(request, name)) continue;
      const sight = this.#isOver() ? undefined : await this.#try(() => readOpenOrders(this.#options, id));
      if (!sight) return false;
      this.#sights.set(id, sight);
    }
    if (!this.#isClear(request, accounts)) return false;
    return (await this.#try(() => this.#options.store.finish(request))) ?? false;
  }

  /** Runs `work`; a failure is reported, gives undefined, and stops nothing else. */
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

/** An order, or the open parts of a combination, which are cancelled one after the other. */
interface CancelGroup {
  readonly ids: readonly string[];
  /** Whether the first one is the master, whose cancel takes the others with it. */
  readonly hasMaster: boolean;
}

/**
 * Groups open orders in the order of their cancels; a combination begins with its master.
 *
 * @param ranks ranks of the orders by id: the lowest goes first
 */
function groupsOf(orders: readonly OpenOrder[], ranks: ReadonlyMap<string, string>): readonly CancelGroup[] {
  const combinations = new Map<string, OpenOrder[]>();
  const rankOf = (id: string) => ranks.get(id) ?? '';
  const ranked = [...orders].sort((a, b) => (rankOf(idOf(a)) < rankOf(idOf(b)) ? -1 : 1));
  for (const one of ranked) {
    const { combination } = one.order;
    const name = combination === undefined ? `order ${idOf(one)}` : `combination ${combination}`;
    combinations.set(name, [...(combinations.get(name) ?? []), one]);
  }
  return [...combinations.values()].map((parts) => {
    const sorted = [...parts.filter(isMaster), ...parts.filter((one) => !isMaster(one))];
    return { ids: sorted.map(idOf), hasMaster: parts.length > 1 && parts.some(isMaster) };
  });
}

const idOf = ({ order }: OpenOrder): string => order.state.clientOrderId;

const isMaster = ({ order }: OpenOrder): boolean =>
  textMembers(order.payload, ['combo_type'])?.get('combo_type') === 'MASTER';

/** Works on the items in their order, `width` at a time. */
async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
