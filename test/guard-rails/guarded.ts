/** Gateways behind guard rails, in front of one simulated upstream; what a test wants of them in a line. */

import type { TestContext } from 'vitest';
import type { SimulatorOptions } from '../../infra/simulator/index.ts';
import type { GatewayOptions } from '../../lib/gateway/index.ts';
import { type ControlStore, createMemoryControls, type TradingLimits } from '../../lib/guard-rails/index.ts';
import { type CountingJournal, createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { accountId, ask, newOrder, type Problem, type Reply } from '../support/core.ts';
import { names, startInstances } from '../support/instances.ts';

export const placePath = '/trade/place_order';
export const batchPath = '/trading/orders/batch-place';
export const replacePath = '/trading/orders/replace';
export const cancelPath = '/trading/orders/cancel';

export const limited = (id: string, limit_price: string, quantity: string, more = {}) =>
  newOrder({ client_order_id: id, order_type: 'LIMIT', limit_price, quantity, ...more });

/** A call on AAPL. */
export const leg = (more: object = {}) => ({
  side: 'BUY',
  market: 'US',
  instrument_type: 'OPTION',
  symbol: 'AAPL',
  quantity: '1',
  strike_price: '240',
  option_expire_date: '2029-01-19',
  option_type: 'CALL',
  ...more,
});
export const option = (id: string, price: string, quantity: string, more: object = {}) =>
  limited(id, price, quantity, {
    instrument_type: 'OPTION',
    option_strategy: 'SINGLE',
    legs: [leg({ quantity })],
    ...more,
  });

export interface GuardedOptions {
  readonly count?: number;
  /** Of the gateway. */
  readonly limits?: TradingLimits;
  /** By symbol. */
  readonly last?: Readonly<Record<string, string>>;
  readonly clock?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  readonly journal?: CountingJournal;
  readonly members?: readonly string[];
  readonly controls?: ControlStore;
  readonly simulated?: Partial<SimulatorOptions>;
  readonly options?: Partial<GatewayOptions>;
}

export async function startGuarded(t: TestContext, given: GuardedOptions = {}) {
  const { count = 1, limits, last, clock, sleep, members, simulated, options } = given;
  const journal = given.journal ?? createMemoryOrderJournal();
  const memory = createMemoryControls();
  if (limits) memory.set('stack', { limits });
  const lastPrices = last && {
    lastPrice: async (symbol: string) => {
      const price = last[symbol];
      return price === undefined ? undefined : { price, at: 0 };
    },
  };
  const prices = lastPrices && { lastPrices, optionPrices: lastPrices };
  const guard = { controls: given.controls ?? memory, journal, ...prices };
  const started = await startInstances(t, count, {
    simulated: { ...(clock && { clock }), ...simulated },
    journal,
    options: {
      ...(clock && { clock }),
      orders: { journal, names, guard, ...(sleep && { sleep }), ...(members && { members }) },
      ...options,
    },
  });
  const { simulator, gateway } = started;
  const counterKey = (scope: string) => `counter ${scope}`;
  return {
    ...started,
    journal,
    controls: memory,
    counterKey,
    counter: async (scope = 'stack') => {
      const [stored] = await journal.counters([counterKey(scope)]);
      return JSON.parse(stored?.state ?? '{"open":"0","recent":[]}') as { open: string; recent: unknown[] };
    },
    /** How many requests with a side effect have reached the upstream. */
    sent: () => simulator.received.filter(({ method }) => method === 'POST').length,
    place: (...orders: readonly object[]) => ask(gateway, placePath, bodyOf({ new_orders: orders })),
    batch: (...orders: readonly object[]) => ask(gateway, batchPath, bodyOf({ batch_orders: orders })),
    replace: (...orders: readonly object[]) => ask(gateway, replacePath, bodyOf({ modify_orders: orders })),
    cancel: (client_order_id: string) => ask(gateway, cancelPath, bodyOf({ client_order_id })),
  };
}

export const bodyOf = (members: object) => ({
  body: JSON.stringify({ account_id: accountId, ...members }),
});

interface BlockedProblem extends Pick<Problem, 'code'> {
  readonly errors?: readonly { readonly check?: string; readonly name: string }[];
}

/** `sent`, or the checks that held the request back, or the code of another refusal. */
export function outcomeOf(reply: Reply): string {
  if (reply.status === 200) return 'sent';
  const { code, errors = [] } = JSON.parse(reply.text) as BlockedProblem;
  if (code !== 'order_blocked') return code;
  return `blocked: ${errors.map(({ check, name }) => `${check} ${name}`).join(', ') || 'stopped'}`;
}
