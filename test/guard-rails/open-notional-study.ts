/**
 * `npm run study -- open-notional [steps] [seed]`: a day of trading by several instances, with lost answers, lost events
 * and failing reads. After each step the counters of the open notional are compared with what is open at the upstream.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { faultsByChance, type LoggedChange, startSimulator } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, type Gateway } from '../../lib/gateway/index.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import type { ReadOrder } from '../../lib/orders/order-reads.ts';
import { isFinal } from '../../lib/orders/order-state.ts';
import { createGatewayOrderReads, orderReadOperations } from '../../lib/trade-events/index.ts';
import { ask, credentials, orderBody, orderPath, problemOf, secretText } from '../support/core.ts';
import { names, settlementFor } from '../support/instances.ts';

const minute = 60_000;
const dayMs = 6.5 * 60 * minute;
const limits = { account: 20_000, gateway: 30_000 };
const instances = 5;
/** The simulated accounts have orders from before, which count in no counter. */
const idPrefix = 'order-of-the-day-';

export interface OpenNotionalFigures {
  readonly steps: number;
  readonly placed: number;
  readonly blocked: number;
  readonly unknown: number;
  readonly replaced: number;
  /** Steps after which a counter was below what is open, or above its limit. */
  readonly wrong: readonly string[];
  /** What the gateway's counter has beyond what is open, as a share of the limit: mean and most. */
  readonly above: { readonly mean: number; readonly max: number };
  /** Minutes until the counters are empty after all orders were cancelled. */
  readonly emptyAfterMinutes: number;
}

/** A day with so many steps: most of them place an order. */
export async function tradeForADay(steps: number, seed: number): Promise<OpenNotionalFigures> {
  const day = await Day.start(steps, seed);
  try {
    for (let step = 0; step < steps; step++) {
      await day.act(step);
      await day.compare(`step ${step}`);
      await day.live();
      await day.compare(`after step ${step}`);
    }
    const emptyAfterMinutes = await day.end();
    return { steps, ...day.counts, wrong: day.wrong, above: shares(day.above), emptyAfterMinutes };
  } finally {
    await day.simulator.close();
  }
}

interface Known {
  readonly account: string;
  readonly id: string;
}

type Simulator = Awaited<ReturnType<typeof startSimulator>>;

class Day {
  readonly simulator: Simulator;
  readonly counts = { placed: 0, blocked: 0, unknown: 0, replaced: 0 };
  readonly wrong: string[] = [];
  readonly above: number[] = [];
  readonly #steps: number;
  readonly #random: () => number;
  readonly #state: { clock: number; isFaulty: boolean };
  readonly #journal = createMemoryOrderJournal();
  readonly #controls = createMemoryControls();
  readonly #gateways: readonly Gateway[];
  readonly #settlement: ReturnType<typeof settlementFor>;
  readonly #reads: ReturnType<typeof createGatewayOrderReads>;
  /** By account, the key of its counter; the gateway's by an empty text. */
  readonly #counters = new Map<string, string>();
  readonly #known: Known[] = [];
  #seen = 0;
  #settledAt: number;

  static async start(steps: number, seed: number): Promise<Day> {
    const state = { clock: Date.UTC(2026, 10, 20, 14, 30), isFaulty: true };
    const byChance = faultsByChance({ 'drop-after': 0.08, drop: 0.04, repeat: 0.02 }, { seed });
    const simulator = await startSimulator({
      ...credentials,
      clock: () => state.clock,
      fault: (request) => (state.isFaulty ? byChance(request) : undefined),
    });
    const day = new Day(simulator, state, steps, randomFrom(seed));
    await day.#setLimits();
    return day;
  }

  private constructor(
    simulator: Simulator,
    state: { clock: number; isFaulty: boolean },
    steps: number,
    random: () => number,
  ) {
    this.simulator = simulator;
    this.#state = state;
    this.#steps = steps;
    this.#random = random;
    this.#settledAt = state.clock;
    const clock = () => state.clock;
    const sleep = async (ms: number) => {
      state.clock += Math.ceil(ms);
      await turn();
    };
    const [journal, controls] = [this.#journal, this.#controls];
    const shared = {
      upstreamBaseUrl: simulator.url,
      secrets: { read: async () => secretText() },
      access: 'single-user',
      clock,
    } as const;
    const orders = { journal, names, sleep, guard: { controls, journal } };
    this.#gateways = Array.from({ length: instances }, () =>
      createGateway({ ...shared, operations, orders }),
    );
    this.#settlement = settlementFor(simulator.url, { journal, clock });
    const gateway = createGateway({ ...shared, operations: orderReadOperations });
    this.#reads = createGatewayOrderReads({ gateway, clock });
  }

  async #setLimits(): Promise<void> {
    const limit = async (account: string, scope: string, max_open_notional: string) => {
      this.#controls.set(scope, { limits: { max_open_notional } });
      this.#counters.set(account, `counter ${scope}`);
    };
    await limit('', 'stack', String(limits.gateway));
    for (const { account_id: id } of this.simulator.accounts.slice(0, 2))
      await limit(id, `account ${await names.nameOf('account', id)}`, String(limits.account));
  }

  /** Places, replaces, cancels or fills an order. */
  async act(step: number): Promise<void> {
    this.#state.clock += Math.round((dayMs / this.#steps) * 2 * this.#random());
    const chance = this.#random();
    const order = this.#pick(this.#known.slice(-40));
    if (chance < 0.6 || !order) await this.#place(`${idPrefix}${step}`);
    else if (chance < 0.75) await this.#replace(order);
    else if (chance < 0.9) await this.#cancel(order);
    else this.#fill(order);
  }

  async #place(id: string): Promise<void> {
    const account = this.#pick(this.#accounts) ?? '';
    const body = orderBody({
      client_order_id: id,
      order_type: 'LIMIT',
      limit_price: (5 + this.#upTo(9500) / 100).toFixed(2),
      quantity: String(this.#upTo(60)),
      time_in_force: 'GTC',
    });
    const reply = await this.#send(orderPath, { ...(JSON.parse(body) as object), account_id: account });
    const code = reply.status === 200 ? undefined : problemOf(reply).code;
    if (code === 'order_blocked') this.counts.blocked++;
    else this.#known.push({ account, id });
    if (code === undefined) this.counts.placed++;
    if (code === 'outcome_unknown') this.counts.unknown++;
  }

  async #replace({ account, id }: Known): Promise<void> {
    const terms = this.#random() < 0.5 ? { quantity: String(this.#upTo(90)) } : { limit_price: '42.00' };
    const modify_orders = [{ client_order_id: id, ...terms }];
    const reply = await this.#send('/trading/orders/replace', { account_id: account, modify_orders });
    if (reply.status === 200) this.counts.replaced++;
  }

  #cancel({ account, id }: Known) {
    return this.#send('/trading/orders/cancel', { account_id: account, client_order_id: id });
  }

  #fill({ account, id }: Known): void {
    try {
      this.simulator.trading.fill(account, id, this.#random() < 0.5 ? undefined : '1');
    } catch {
      // It is not open any more.
    }
  }

  /** What an instance learns afterwards: events, of which three in ten are lost, and the settlement's runs. */
  async live(): Promise<void> {
    for (const change of this.simulator.trading.changes().slice(this.#seen)) {
      this.#seen++;
      if (this.#random() < 0.7) await this.#settlement.saw(orderOf(change)).catch(() => {});
    }
    while (this.#state.clock - this.#settledAt >= minute) {
      this.#settledAt += minute;
      await this.#settlement.run(this.#state.clock + minute);
    }
  }

  async compare(step: string): Promise<void> {
    const { isFaulty } = this.#state;
    this.#state.isFaulty = false;
    let total = 0;
    for (const account of this.#accounts) {
      const open = notionalOf(await this.#reads.openOrders(account));
      total += open;
      await this.#mustHold(`${step}, account`, account, open, limits.account);
    }
    this.#state.isFaulty = isFaulty;
    const counted = await this.#mustHold(step, '', total, limits.gateway);
    this.above.push((counted - total) / limits.gateway);
  }

  async #mustHold(step: string, account: string, open: number, limit: number): Promise<number> {
    const counted = await this.#counted(account);
    if (counted < open - 1e-6 || counted > limit)
      this.wrong.push(`${step}: counted ${counted}, open ${open}`);
    return counted;
  }

  async #counted(account: string): Promise<number> {
    const [counter] = await this.#journal.counters([this.#counters.get(account) ?? '']);
    return Number((JSON.parse(counter?.state ?? '{"open":"0"}') as { readonly open: string }).open);
  }

  /** Cancels everything. @returns the minutes until nothing is counted */
  async end(): Promise<number> {
    this.#state.isFaulty = false;
    for (const order of this.#known) await this.#cancel(order);
    const endedAt = this.#state.clock;
    while ((await this.#counted('')) > 0 && this.#state.clock < endedAt + 120 * minute) {
      this.#state.clock += minute;
      await this.live();
      await this.compare('at the end');
    }
    return (this.#state.clock - endedAt) / minute;
  }

  get #accounts(): readonly string[] {
    return [...this.#counters.keys()].filter((account) => account !== '');
  }

  #send(path: string, body: object) {
    return ask(this.#pick(this.#gateways)!, path, { body: JSON.stringify(body) });
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)];
  }

  #upTo(most: number): number {
    return 1 + Math.floor(this.#random() * most);
  }
}

export async function studyOpenNotional([steps = '2000', seed = '1']: readonly string[]): Promise<boolean> {
  const { wrong, ...figures } = await tradeForADay(Number(steps), Number(seed));
  console.log(JSON.stringify({ ...figures, wrong: wrong.length }, null, 2));
  for (const one of wrong.slice(0, 20)) console.log(one);
  return wrong.length === 0;
}

/** Of the orders that are open, what is left at their limit prices. */
const notionalOf = (orders: readonly ReadOrder[]): number =>
  orders
    .filter(({ state }) => !isFinal(state) && state.clientOrderId.startsWith(idPrefix))
    .map(({ payload }) => JSON.parse(payload) as Readonly<Record<string, string>>)
    .map(
      ({ total_quantity, filled_quantity, limit_price }) =>
        (Number(total_quantity) - Number(filled_quantity)) * Number(limit_price),
    )
    .reduce((sum, value) => sum + value, 0);

const orderOf = ({ accountId, clientOrderId, status, filledQuantity, payload }: LoggedChange) => ({
  state: { account: accountId, clientOrderId, status, filled: filledQuantity },
  payload: JSON.stringify(payload),
});

const shares = (values: readonly number[]) => ({
  mean: values.reduce((sum, value) => sum + value, 0) / values.length,
  max: Math.max(...values),
});

function randomFrom(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
