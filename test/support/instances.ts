/** Several instances of a gateway, as Lambda runs them: they share the journal and the upstream, and nothing else. */

import type { TestContext } from 'vitest';
import { type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../lib/gateway/index.ts';
import {
  type CountingJournal,
  createMemoryOrderJournal,
  createSettlement,
  type OrderJournal,
} from '../../lib/orders/index.ts';
import { createGatewayOrderReads, orderReadOperations } from '../../lib/trade-events/index.ts';
import { credentials, secretText } from './core.ts';

export const identityKey = 'the identity key of these tests, long enough';
export const identity = createIdentity(async () => identityKey);
export const { names } = identity;

export async function startInstances(
  t: TestContext,
  count: number,
  {
    simulated = {},
    options = {},
    journal = createMemoryOrderJournal(),
    sleep,
  }: {
    readonly simulated?: Partial<SimulatorOptions>;
    readonly options?: Partial<GatewayOptions>;
    readonly journal?: CountingJournal;
    readonly sleep?: (ms: number) => Promise<void>;
  } = {},
) {
  const simulator = await startSimulator({ ...credentials, ...simulated });
  t.onTestFinished(() => simulator.close());
  const instance = (own: OrderJournal = journal): Gateway =>
    createGateway({
      operations,
      upstreamBaseUrl: simulator.url,
      secrets: { read: async () => secretText() },
      access: 'single-user',
      orders: { journal: own, names, ...(sleep && { sleep }) },
      ...options,
    });
  const gateways = Array.from({ length: count }, () => instance());
  return { simulator, gateways, gateway: gateways[0]!, journal, instance };
}

/** The settlement of what these instances leave unknown. */
export const settlementFor = (
  upstreamBaseUrl: string,
  { journal, clock }: { readonly journal: CountingJournal; readonly clock: () => number },
) =>
  createSettlement({
    journal,
    orders: createGatewayOrderReads({
      gateway: createGateway({
        operations: orderReadOperations,
        upstreamBaseUrl,
        secrets: { read: async () => secretText() },
        access: 'single-user',
        clock,
      }),
      clock,
      maxWaitMs: 0,
    }),
    names,
    clock,
  });
