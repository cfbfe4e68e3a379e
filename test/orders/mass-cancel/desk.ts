/**
 * A trading desk in front of the simulated upstream: instances behind guard rails, users with tokens, an operator, and the
 * function that cancels what is open. All of them by one clock, which a test moves.
 */

import type { TestContext } from 'vitest';
import type { SimulatorOptions } from '../../../infra/simulator/index.ts';
import type { Principal } from '../../../lib/access/evidence.ts';
import { nameOfPrincipal } from '../../../lib/access/identity.ts';
import { cancelOrder, getOrder, operations } from '../../../lib/catalogue/index.ts';
import type { Scope } from '../../../lib/catalogue/scopes.ts';
import { type AccessOptions, createGateway, type Gateway } from '../../../lib/gateway/index.ts';
import { createGatewayCancels } from '../../../lib/gateway/orders/cancels.ts';
import {
  createControlAdmin,
  createMemoryControls,
  type MassCancelStore,
} from '../../../lib/guard-rails/index.ts';
import { createMassCancels, createMemoryOrderJournal } from '../../../lib/orders/index.ts';
import { isFinal } from '../../../lib/orders/order-state.ts';
import { createGatewayOrderReads, orderReadOperations } from '../../../lib/trade-events/index.ts';
import { bearer, claimsOf, issuer } from '../../support/access.ts';
import { ask, newOrder, secretText } from '../../support/core.ts';
import { identity, names, startInstances } from '../../support/instances.ts';

export const start = Date.UTC(2026, 10, 20, 15);
export const minute = 60_000;

interface DeskOptions {
  readonly count?: number;
  readonly simulated?: Partial<SimulatorOptions>;
  /** In place of the one in memory, where failed checks ask. */
  readonly massCancels?: Pick<MassCancelStore, 'request'>;
}

export const user = (subject: string): Principal => ({ kind: 'user', issuer, subject });

export async function startDesk(t: TestContext, given: DeskOptions = {}) {
  const { count = 1, simulated = {} } = given;
  const state = { clock: start };
  const clock = () => state.clock;
  const sleep = async (ms: number) => {
    state.clock += Math.ceil(ms);
  };
  const journal = createMemoryOrderJournal();
  const controls = createMemoryControls();
  const failures: string[] = [];
  const guard = { controls, journal, massCancels: given.massCancels ?? controls.massCancels };
  const reportFailure = (step: string) => failures.push(step);
  const { simulator, gateways } = await startInstances(t, count, {
    simulated: { clock, ...simulated },
    journal,
    options: {
      clock,
      access: accessOf(() => simulator.accounts.map(({ account_id }) => account_id)),
      orders: { journal, names, sleep, guard, reportFailure },
    },
  });
  const own = {
    upstreamBaseUrl: simulator.url,
    secrets: { read: async () => secretText() },
    access: 'single-user',
    clock,
  } as const;
  const orders = createGatewayOrderReads({
    gateway: createGateway({ ...own, operations: orderReadOperations }),
    clock,
    maxWaitMs: 0,
  });
  const gateway = createGateway({
    ...own,
    operations: [cancelOrder],
    orders: { journal, names, sleep, lookUps: [getOrder] },
  });
  const massCancels = createMassCancels({
    store: controls.massCancels,
    orders,
    cancel: createGatewayCancels({ gateway, clock, sleep }),
    journal,
    names,
    clock,
    reportFailure: (cause) => failures.push(String(cause)),
  });
  const accounts = simulator.accounts.map(({ account_id }) => account_id);
  /** Another program with the same app key. */
  const elsewhere = createGateway({ ...own, operations });
  return {
    state,
    simulator,
    accounts,
    controls,
    journal,
    failures,
    admin: createControlAdmin({ store: controls, identity, by: 'operator', clock }),
    run: () => massCancels.run(state.clock + 30_000),
    async place(by: Placer, change: Readonly<Record<string, unknown>> = {}) {
      const order = limited(change);
      const body = { account_id: accounts[by.account ?? 0]!, new_orders: [order] };
      const at = by.elsewhere ? elsewhere : gateways[by.instance ?? 0]!;
      return { id: order.client_order_id, reply: await placeAt(at, by.user, body) };
    },
    /** The ids of the open orders of an account, as the upstream shows them. */
    open: async (account = 0) =>
      (await orders.openOrders(accounts[account]!))
        .filter(({ state: one }) => !isFinal(one))
        .map(({ state: one }) => one.clientOrderId)
        .sort(),
    /** The ids of the orders whose cancel reached the upstream, in no order. */
    cancelled: () =>
      simulator.received
        .filter(({ target }) => target.split('?')[0] === cancelOrder.path)
        .map(({ body }) => (JSON.parse(body) as { client_order_id: string }).client_order_id)
        .sort(),
    scopeOf: async (whose: 'account' | 'user', id: string) =>
      whose === 'account'
        ? `account ${await names.nameOf('account', id)}`
        : `user ${await nameOfPrincipal(names, user(id))}`,
  };
}

interface Placer {
  readonly instance?: number;
  readonly account?: number;
  /** The subject of the token. */
  readonly user?: string;
  readonly elsewhere?: boolean;
}

let ids = 0;

/** Far from the market: it stays open. */
const limited = (change: Readonly<Record<string, unknown>> = {}) => ({
  ...newOrder({
    client_order_id: `of-the-desk-${++ids}`,
    order_type: 'LIMIT',
    limit_price: '1.00',
    quantity: '10',
    ...change,
  }),
});

const placeAt = (gateway: Gateway, subject: string | undefined, body: object) =>
  ask(gateway, '/trade/place_order', {
    body: JSON.stringify(body),
    headers: subject === undefined ? {} : bearer(subject),
  });

/** Every user may do anything with every account; the token is the subject. */
function accessOf(accounts: () => readonly string[]): AccessOptions {
  const scopes = new Set<Scope>(['read', 'trade', 'write']);
  return {
    directory: {
      standing: async ({ principal }) => ({
        kind: 'granted',
        user: await nameOfPrincipal(names, principal),
        grants: { accounts: new Map(accounts().map((id) => [id, scopes])), userData: scopes },
      }),
    },
    names,
    verifier: { verify: async (token) => ({ ok: true, claims: claimsOf(token) }) },
  };
}
