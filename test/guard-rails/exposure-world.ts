/** A small world for the open notional: an upstream whose orders are known, and requests that get lost, late or twice. */

import { type Answer, refused } from '../../lib/answer.ts';
import { cancelOrder, placeOrder, replaceOrder } from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { readExposure } from '../../lib/guard-rails/exposure.ts';
import { createMemoryControls, type TradingLimits } from '../../lib/guard-rails/index.ts';
import {
  addDecimals,
  compareDecimals,
  multiplyDecimals,
  subtractDecimals,
} from '../../lib/kernel/decimals.ts';
import type { createHandOver, HandOver, OrderDelivery } from '../../lib/orders/hand-over.ts';
import {
  type CountingJournal,
  type createMemoryOrderJournal,
  JournalUnavailable,
} from '../../lib/orders/index.ts';
import type { ReadOrder } from '../../lib/orders/order-reads.ts';
import { termsOf } from '../../lib/orders/order-state.ts';
import type { createSettlement } from '../../lib/orders/settle.ts';
import { newOrder } from '../support/orders.ts';

/** The code that is judged: as it is, or with one rule broken. */
export interface ExposureSubject {
  readonly createHandOver: typeof createHandOver;
  readonly createMemoryOrderJournal: typeof createMemoryOrderJournal;
  readonly createSettlement: typeof createSettlement;
}

/** What becomes of a request on its way. */
export type Fate = 'answered' | 'refused' | 'answer lost' | 'lost' | 'late';

export interface Terms {
  readonly order_type?: string;
  readonly quantity?: string | null;
  readonly limit_price?: string | null;
  readonly stop_price?: string;
}

interface Order {
  readonly account: string;
  readonly id: string;
  readonly terms: Required<Pick<Terms, 'order_type'>> & Terms;
  readonly filled: string;
  readonly status: string;
  readonly placedAt: number;
}

/** What every stock of this world was last traded at. */
export const lastPrice = '7';
const credential = 'credential';
const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
/** The upstream refuses what was signed before that. */
const maxLateMs = 5 * 60_000;
const requestMs = 29_000;
const startedAt = Date.UTC(2026, 10, 20, 15);

const answer = (value: object): Answer => ({
  kind: 'uncached',
  body: new TextEncoder().encode(JSON.stringify(value)),
});
const lost = refused({ code: 'outcome_unknown' });
const rejected = refused({
  code: 'upstream_rejected',
  upstream: { status: 417, errorCode: 'OPENAPI_NO_TRADING_TIME' },
});

const isOpen = ({ status }: Order) => status === 'SUBMITTED';

/** No limit counts it. That it is found shows that look-ups work, so that one that finds nothing says something. */
const ofOtherProgram = (account: string): Order => ({
  account,
  id: 'of-another-program',
  terms: { order_type: 'LIMIT', quantity: '1', limit_price: '1' },
  filled: '0',
  status: 'SUBMITTED',
  placedAt: startedAt,
});

export class ExposureWorld {
  readonly #subject: ExposureSubject;
  readonly #orders = new Map<string, Order>();
  readonly #journal: CountingJournal;
  readonly #instances: readonly HandOver[];
  readonly #limits: Readonly<Record<string, string>>;
  #late: { readonly arrive: () => void; readonly until: number }[] = [];
  #now = startedAt;
  #requests = 0;
  /** At so many calls of the journal from now one fails, after it was written or before. */
  #failsIn = 0;
  #failsAfter = false;

  /** @param limits of the gateway, and of each account */
  constructor(
    subject: ExposureSubject,
    limits: { readonly stack: string; readonly accounts: Readonly<Record<string, string>> },
  ) {
    this.#subject = subject;
    this.#journal = this.#failing(subject.createMemoryOrderJournal());
    const scopes = Object.entries(limits.accounts).map(([name, limit]) => [`account account|${name}`, limit]);
    this.#limits = Object.fromEntries([['stack', limits.stack], ...scopes]);
    const controls = createMemoryControls();
    for (const [scope, limit] of Object.entries(this.#limits))
      controls.set(scope, { limits: { max_open_notional: limit } satisfies TradingLimits });
    this.#instances = [0, 1, 2].map(() =>
      subject.createHandOver({
        journal: this.#journal,
        names,
        clock: this.#clock,
        sleep: this.#sleep,
        guard: {
          controls,
          journal: this.#journal,
          lastPrices: { lastPrice: async () => ({ price: lastPrice, at: this.#now }) },
        },
      }),
    );
  }

  readonly #clock = () => this.#now;
  readonly #sleep = async (ms: number) => {
    this.#now += ms;
  };

  place(account: string, id: string, terms: Terms, how: How): Promise<void> {
    const order = newOrder({ client_order_id: id, quantity: null, ...terms });
    return this.#request(placeOrder, { account_id: account, new_orders: [order] }, how);
  }

  replace(account: string, id: string, terms: Terms, how: How): Promise<void> {
    const body = { account_id: account, modify_orders: [{ client_order_id: id, ...terms }] };
    return this.#request(replaceOrder, body, how);
  }

  cancel(account: string, id: string, how: How): Promise<void> {
    return this.#request(cancelOrder, { account_id: account, client_order_id: id }, how);
  }

  /** Some of what is left of an order is executed, or all of it. */
  fill(account: string, id: string, part: string): void {
    const order = this.#orders.get(`${account} ${id}`);
    if (!order || !isOpen(order)) return;
    const filled = addDecimals(order.filled, part);
    const isWhole = compareDecimals(filled, order.terms.quantity!) >= 0;
    this.#set({ ...order, ...(isWhole ? { filled: order.terms.quantity!, status: 'FILLED' } : { filled }) });
  }

  /** What was late comes now, the last one first. */
  arrive(): void {
    for (const { arrive, until } of this.#late.splice(0).reverse()) if (this.#now <= until) arrive();
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  async settle(): Promise<void> {
    const ofAccount = (account: string) =>
      [...this.#orders.values(), ofOtherProgram(account)].filter((one) => one.account === account);
    const settlement = this.#subject.createSettlement({
      journal: this.#journal,
      orders: {
        openOrders: async (account) => ofAccount(account).filter(isOpen).map(shown),
        order: async (account, id) => this.#lookUp(account, id),
        ordersSince: async (account) => ofAccount(account).map(shown),
      },
      names,
      clock: this.#clock,
      sleep: this.#sleep,
    });
    await settlement.run(this.#now + 60_000);
  }

  /** All that can end ends, and is settled. */
  async end(): Promise<void> {
    this.#failsIn = 0;
    this.arrive();
    for (const order of this.#orders.values())
      if (isOpen(order)) this.#set({ ...order, status: 'CANCELLED' });
    for (let round = 0; round < 3; round++) {
      this.pass(20 * 60_000);
      await this.settle();
    }
  }

  /** What must never be, in a sentence; undefined when all is as it should be. */
  async fault({ isOver = false } = {}): Promise<string | undefined> {
    const entries = await this.#journal.exposed('', 10_000);
    for (const [scope, limit] of Object.entries(this.#limits)) {
      const key = `counter ${scope}`;
      const [stored] = await this.#journal.counters([key]);
      const { open } = stored ? (JSON.parse(stored.state) as { open: string }) : { open: '0' };
      const sum = entries.reduce(
        (all, { exposure }) => addDecimals(all, readExposure(exposure!).counted[key] ?? '0'),
        '0',
      );
      const truth = this.#exposureOf(scope);
      if (open !== sum) return `${scope}: counted ${open}, its entries have ${sum}`;
      if (compareDecimals(open, truth) < 0) return `${scope}: counted ${open}, open are ${truth}`;
      if (compareDecimals(truth, limit) > 0) return `${scope}: open are ${truth}, the limit is ${limit}`;
      if (isOver && open !== '0') return `${scope}: ${open} is counted after all is over`;
    }
    return undefined;
  }

  #exposureOf(scope: string): string {
    return [...this.#orders.values()]
      .filter((order) => isOpen(order) && (scope === 'stack' || scope === `account account|${order.account}`))
      .map(({ terms, filled }) => {
        const { order_type: type, quantity, limit_price, stop_price } = terms;
        const stop =
          stop_price !== undefined && compareDecimals(stop_price, lastPrice) > 0 ? stop_price : lastPrice;
        return multiplyDecimals(subtractDecimals(quantity!, filled), type === 'LIMIT' ? limit_price! : stop);
      })
      .reduce(addDecimals, '0');
  }

  async #request(
    operation: Operation,
    body: object,
    { fate, instance, failsIn, failsAfter }: How,
  ): Promise<void> {
    this.#failsIn = failsIn;
    this.#failsAfter = failsAfter;
    const change = {
      operation,
      query: [],
      body: JSON.stringify(body),
      headers: {},
      credential,
      requestId: `request-${this.#requests++}`,
      deadline: this.#now + requestMs,
    };
    await this.#instances[instance]!.run(change, this.#delivery(operation, fate));
    this.#failsIn = 0;
  }

  #delivery(operation: Operation, fate: Fate): OrderDelivery {
    return {
      send: async (body) => {
        const execute = () => this.#execute(operation, JSON.parse(body));
        switch (fate) {
          case 'answered':
            return execute();
          case 'refused':
            return rejected;
          case 'answer lost':
            execute();
            return lost;
          case 'lost':
            return lost;
          case 'late':
            this.#late.push({ arrive: execute, until: this.#now + maxLateMs });
            return lost;
        }
      },
      lookUp: async (account, id) => this.#lookUp(account, id),
    };
  }

  #execute(operation: Operation, body: Body): Answer {
    const { account_id: account, new_orders = [], modify_orders = [], client_order_id } = body;
    const [placed] = new_orders;
    const id = placed?.client_order_id ?? modify_orders[0]?.client_order_id ?? client_order_id!;
    const known = this.#orders.get(`${account} ${id}`);
    if (placed) {
      if (known) return rejected;
      this.#set({ account, id, terms: placed, filled: '0', status: 'SUBMITTED', placedAt: this.#now });
    } else if (!known || !isOpen(known)) return rejected;
    else if (operation.sideEffect?.cancels) this.#set({ ...known, status: 'CANCELLED' });
    else {
      const { client_order_id: _, ...changed } = modify_orders[0]!;
      const sent = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
      const terms = { ...known.terms, ...sent };
      const isPriced = terms.order_type !== 'LIMIT' || terms.limit_price != null;
      if (!isPriced || compareDecimals(terms.quantity!, known.filled) <= 0) return rejected;
      this.#set({ ...known, terms });
    }
    return answer({ client_order_id: id, order_id: `order-${id}` });
  }

  #lookUp(account: string, id: string): ReadOrder | 'not_found' {
    const other = ofOtherProgram(account);
    const order = id === other.id ? other : this.#orders.get(`${account} ${id}`);
    return order ? shown(order) : 'not_found';
  }

  #set(order: Order): void {
    this.#orders.set(`${order.account} ${order.id}`, order);
  }

  #failing(journal: CountingJournal): CountingJournal {
    const through = async <T>(effect: () => Promise<T>): Promise<T> => {
      const fails = this.#failsIn > 0 && --this.#failsIn === 0;
      // Others come between.
      for (let turns = this.#requests % 4; turns > 0; turns--) await null;
      if (fails && !this.#failsAfter) throw new JournalUnavailable();
      const result = await effect();
      if (fails) throw new JournalUnavailable();
      return result;
    };
    return {
      begin: (...call) => through(() => journal.begin(...call)),
      beginCounted: (...call) => through(() => journal.beginCounted(...call)),
      finish: (...call) => through(() => journal.finish(...call)),
      change: (...call) => through(() => journal.change(...call)),
      read: journal.read,
      counters: journal.counters,
      unsettled: journal.unsettled,
      exposed: journal.exposed,
    };
  }
}

/** How a request fares. */
export interface How {
  readonly fate: Fate;
  readonly instance: number;
  /** 0: the journal does not fail. */
  readonly failsIn: number;
  readonly failsAfter: boolean;
}

interface Body {
  readonly account_id: string;
  readonly new_orders?: readonly (Order['terms'] & { readonly client_order_id: string })[];
  readonly modify_orders?: readonly (Terms & { readonly client_order_id: string })[];
  readonly client_order_id?: string;
}

function shown({ account, id, terms, filled, status, placedAt }: Order): ReadOrder {
  const { order_type, quantity, limit_price, stop_price } = terms;
  const members = Object.entries({ order_type, total_quantity: quantity, limit_price, stop_price }).filter(
    (member): member is [string, string] => typeof member[1] === 'string',
  );
  return {
    state: { account, clientOrderId: id, status, filled, terms: termsOf(new Map(members)) },
    payload: JSON.stringify({
      ...Object.fromEntries(members),
      client_order_id: id,
      order_id: `order-${id}`,
      symbol: 'AAPL',
      side: 'BUY',
      instrument_type: 'EQUITY',
      combo_type: 'NORMAL',
      status,
      place_time: Math.ceil(placedAt),
    }),
  };
}
