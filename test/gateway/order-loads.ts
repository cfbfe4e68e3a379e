/**
 * One user floods cancels, placements, look-ups, replacements or orders that a check needs a price for; another works as
 * always. Gateways that share a limiter, over HTTP before the simulated upstream, on a virtual clock.
 */

import assert from 'node:assert/strict';
import type { TestContext } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import {
  batchPlaceOrders,
  cancelOrder,
  getOrder,
  getStockSnapshots,
  listOpenOrders,
  listOrderHistory,
  operations,
  previewOrder,
  type UpstreamLimits,
} from '../../lib/catalogue/index.ts';
import {
  createGateway,
  createLimiter,
  createMemoryLimiterStore,
  limiterLimits,
} from '../../lib/gateway/index.ts';
import { createGatewayLastPrices } from '../../lib/gateway/orders/last-prices.ts';
import { createMemoryControls, type TradingLimits } from '../../lib/guard-rails/index.ts';
import type { PermitCall } from '../../lib/limiter/index.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { bearer, claimsOf, createTestAccess, grantsOf, user } from '../support/access.ts';
import {
  accountId,
  credentials,
  orderBody,
  orderPath,
  requestOf,
  secretText,
  snapshotTarget,
} from '../support/core.ts';
import { names } from '../support/instances.ts';
import { newOrder } from '../support/orders.ts';
import { createRandom } from '../world/random.ts';
import { VirtualTime } from '../world/virtual-time.ts';

export const upstreamLimits = 'published';
const start = Date.UTC(2026, 10, 20, 15);
/** As many as a stage reserves for cancels. */
const instances = 5;

interface Reply {
  readonly status: number;
  readonly waitedMs: number;
  readonly retryAfter: number;
  readonly detail: string;
}

/** Gateways, and users who send to them; the clock stands still while any request does something else than wait its turn. */
async function worldFor(t: TestContext, upstreamLimits: UpstreamLimits, limits?: TradingLimits) {
  const time = new VirtualTime(start);
  const { now: clock, after } = time;
  let busy = 0;
  async function counted<T>(by: 1 | -1, work: Promise<T>): Promise<T> {
    busy += by;
    return work.finally(() => {
      busy -= by;
    });
  }
  const simulator = await startSimulator({ ...credentials, upstreamLimits, clock });
  t.onTestFinished(() => simulator.close());
  const people = createTestAccess();
  const store = createMemoryLimiterStore();
  const journal = createMemoryOrderJournal();
  const random = createRandom(1);
  const controls = createMemoryControls();
  if (limits) controls.set('stack', { limits });
  const upstreams = limiterLimits({}, 1, { upstreamLimits, operations });
  const gateways = Array.from({ length: instances }, () => {
    const limiter = createLimiter({ store, limits: upstreams, bucket: 'test', clock, after, random });
    const shared = {
      upstreamBaseUrl: simulator.url,
      upstreamLimits,
      secrets: { read: async () => secretText() },
      limiter: { ...limiter, acquire: (call: PermitCall) => counted(-1, limiter.acquire(call)) },
      clock,
      random,
    };
    const lastPrices = createGatewayLastPrices(getStockSnapshots, { ...shared, after });
    return createGateway({
      ...shared,
      operations,
      access: people.access,
      orders: { journal, names, ...(limits && { guard: { controls, journal, lastPrices } }) },
    });
  });
  let requests = 0;
  return {
    simulator,
    time,
    /** What a user of this name sends, each request to the next instance. */
    async userOf(name: string) {
      await people.grant(user(name), grantsOf({ [accountId]: ['read', 'trade'] }));
      const headers = bearer(people.token(claimsOf(name)));
      return async (target: string, body?: string): Promise<Reply> => {
        const from = clock();
        const request = requestOf(target, { headers, ...(body !== undefined && { body }) });
        const answer = await counted(1, gateways[requests++ % instances]!.handle(request));
        const problem = JSON.parse(new TextDecoder().decode(answer.body) || '{}') as { detail?: string };
        return {
          status: answer.status,
          waitedMs: clock() - from,
          retryAfter: Number(answer.headers['retry-after'] ?? 0),
          detail: problem.detail ?? '',
        };
      };
    },
    async passUntil(end: number) {
      while (clock() < end) {
        while (busy > 0) await new Promise(setImmediate);
        await time.runUntil(clock() + 10);
      }
    },
  };
}

export const cancelBody = (id: string) => JSON.stringify({ account_id: accountId, client_order_id: id });
export const lookUp = (id: string) => `${getOrder.path}?account_id=${accountId}&client_order_id=${id}`;
export const placed = (id: string) =>
  orderBody({ client_order_id: id, order_type: 'LIMIT', limit_price: '1.00' });

const atMarket = (id: string, symbol: string) => orderBody({ client_order_id: id, symbol });

type Send = (target: string, body?: string) => Promise<Reply>;

/** What is sent of one kind, with an id that nobody has used. */
export const loads: Readonly<Record<string, (send: Send, id: string) => Promise<Reply>>> = {
  cancels: (send, id) => send(cancelOrder.path, cancelBody(id)),
  placements: (send, id) =>
    send(orderPath, orderBody({ client_order_id: id, symbol: 'NOSUCH', time_in_force: 'DAY' })),
  'look-ups': (send, id) => send(lookUp(id)),
  // The gateway looks up what it has to check and has not placed.
  replacements: (send, id) =>
    send(
      '/trading/orders/replace',
      JSON.stringify({ account_id: accountId, modify_orders: [{ client_order_id: id, quantity: '2' }] }),
    ),
  // For each the gateway reads a price of its own, in two categories, and finds none.
  'market orders': (send, id) => send(orderPath, atMarket(id, id.replace('no-order-', 'NONE'))),
};

/** What guard rails demand where a load is held back by them. */
const limitsFor: Readonly<Record<string, TradingLimits>> = {
  replacements: { max_order_quantity: '1000' },
  'market orders': { max_order_notional: '100000' },
};

/** The same, of which some are shared, or have limits of their own. */
export const otherLoads: typeof loads = {
  'live orders': (send, id) => send(orderPath, placed(id)),
  'live orders and their cancels': async (send, id) => {
    await send(orderPath, placed(id));
    return send(cancelOrder.path, cancelBody(id));
  },
  batches: (send, id) =>
    send(
      batchPlaceOrders.path,
      JSON.stringify({
        account_id: accountId,
        batch_orders: [1, 2, 3].map((nth) =>
          newOrder({ client_order_id: `${id}-${nth}`, symbol: 'NOSUCH', time_in_force: 'DAY' }),
        ),
      }),
    ),
  'lists of open orders': (send) => send(`${listOpenOrders.path}?account_id=${accountId}`),
  'order histories': (send, id) => {
    const since = new Date(start - 3_600_000 - 1000 * Number(id.split('-')[2])).toISOString();
    return send(`${listOrderHistory.path}?account_id=${accountId}&start_time=${since}`);
  },
  previews: (send, id) => send(previewOrder.path, placed(id)),
};

const part = (values: readonly number[], of: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * of))] ?? 0;

const figuresOf = (replies: readonly Reply[]) => {
  const waits = replies.map(({ waitedMs }) => waitedMs);
  return {
    requests: replies.length,
    refused: replies.filter(({ status }) => status === 429).length,
    blocked: replies.filter(({ status }) => status === 403).length,
    p50: part(waits, 0.5),
    p99: part(waits, 0.99),
    'longest Retry-After': Math.max(...replies.map(({ retryAfter }) => retryAfter)),
  };
};

/** @param seconds on the virtual clock; the limits are by the minute */
export async function holdShares(
  t: TestContext,
  kind: string,
  perSecond: number,
  seconds: number,
  upstreamLimits: UpstreamLimits = 'published',
): Promise<void> {
  const load = { ...loads, ...otherLoads }[kind]!;
  const { simulator, userOf, time, passUntil } = await worldFor(t, upstreamLimits, limitsFor[kind]);
  const [hostile, other] = [await userOf('hostile'), await userOf('other')];
  const ofHostile: Reply[] = [];
  const ofOther: Reply[] = [];
  for (let nth = 0; nth < seconds * perSecond; nth++)
    time.after((1000 * nth) / perSecond, async () => {
      ofHostile.push(await load(hostile, `no-order-${nth}`));
    });
  for (let nth = 0; nth < seconds / 10; nth++)
    time.after(5005 + 10_000 * nth, async () => {
      const id = `own-order-${nth}`;
      ofOther.push(await other(orderPath, placed(id)));
      ofOther.push(await other(lookUp(id)));
      ofOther.push(await other(cancelOrder.path, cancelBody(id)));
      if (kind !== 'market orders') return;
      ofOther.push(await other(orderPath, atMarket(`${id}-at-market`, 'AAPL')));
      ofOther.push(await other(snapshotTarget));
    });
  await passUntil(start + (seconds + 10) * 1000);
  console.log(`${perSecond} ${kind} a second, hostile:`, JSON.stringify(figuresOf(ofHostile)));
  console.log(`${perSecond} ${kind} a second, other:  `, JSON.stringify(figuresOf(ofOther)));
  assert.equal(simulator.counts.TOO_MANY_REQUESTS ?? 0, 0, JSON.stringify(simulator.counts));
  assert.equal(ofOther.length, ((kind === 'market orders' ? 5 : 3) * seconds) / 10);
  assert.deepEqual(
    ofOther.filter(({ status }) => status !== 200),
    [],
  );
  assert.ok(
    ofHostile.every(({ status }) => status !== 400 && status !== 404),
    ofHostile[0]?.detail,
  );
  if (!(kind in loads)) return;
  // What cannot be looked up, or has no price, is unknown, and blocked for that.
  if (limitsFor[kind]) return assert.ok(ofHostile.every(({ status }) => status === 403));
  const refused = ofHostile.filter(({ status }) => status === 429);
  assert.ok(refused.length > 0 && refused.every(({ retryAfter }) => retryAfter >= 1));
  assert.ok(refused.some(({ detail }) => /share/.test(detail)));
}
