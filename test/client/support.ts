/** Clients of a test: in front of the local run, of the simulator, or of a server with the test's own answers. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { TestContext } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import * as catalogue from '../../lib/catalogue/index.ts';
import {
  type Client,
  type ClientError,
  type ClientOptions,
  CountersignError,
  createClient,
  type DirectConnectionOptions,
  direct,
  isClientError,
  viaGateway,
} from '../../lib/client/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { accountId, credentials, newOrder } from '../support/core.ts';
import { urlFor } from '../support/listening.ts';

export { accountId, catalogue, newOrder };

const apiKey = 'key-of-this-test';

export type WholeClient = Client<typeof catalogue>;
export type WholeOptions = ClientOptions<typeof catalogue>;

/** local API Gateway → handlers → simulator */
export async function throughGateway(
  t: TestContext,
  simulated: Partial<SimulatorOptions> = {},
  options?: WholeOptions,
) {
  const simulator = await startSimulator({ ...credentials, ...simulated });
  t.onTestFinished(() => simulator.close());
  const run = await startLocalRun({
    port: 0,
    apiKey,
    openGroups: catalogue.openable,
    credentials,
    upstream: { baseUrl: simulator.url },
    // What goes wrong at the upstream is to reach the client, and no price is to be read before an order.
    tradingLimits: {},
  });
  t.onTestFinished(() => run.close());
  const client = createClient(catalogue, viaGateway({ baseUrl: run.url, apiKey }), options);
  return { simulator, url: run.url, client };
}

/** A signer in front of the simulator. */
export async function directly(
  t: TestContext,
  simulated: Partial<SimulatorOptions> = {},
  connection: Partial<DirectConnectionOptions> = {},
  options?: WholeOptions,
) {
  const simulator = await startSimulator({ ...credentials, ...simulated });
  t.onTestFinished(() => simulator.close());
  const signer = createSigner({ ...credentials, ...(simulated.clock && { clock: simulated.clock }) });
  const client = createClient(catalogue, direct({ baseUrl: simulator.url, signer, ...connection }), options);
  return { simulator, client };
}

/** A server of this test alone: what no upstream should do. */
export const answering = (t: TestContext, listener: RequestListener): Promise<string> =>
  urlFor(t, createServer(listener));

export const clientAt = (baseUrl: string, options?: WholeOptions) =>
  createClient(catalogue, viaGateway({ baseUrl, apiKey }), options);

export const orderOf = (change: Readonly<Record<string, unknown>> = {}) =>
  ({ account_id: accountId, new_orders: [newOrder(change)] }) as unknown as Parameters<
    WholeClient['placeOrder']
  >[0];

export const apple = { symbols: ['AAPL'], category: 'US_STOCK' } as const;

/** The error of a kind that a call must end with. */
export async function failure<K extends ClientError['kind']>(
  kind: K,
  call: Promise<unknown>,
): Promise<Extract<ClientError, { kind: K }>> {
  const error = await call.then(
    () => assert.fail(`fulfilled, instead of ${kind}`),
    (reason: unknown) => reason,
  );
  assert.ok(isClientError(error), `${error}`);
  assert.ok(error instanceof CountersignError);
  if (kind !== 'refused') assert.equal(error.code, kind);
  assert.equal(error.kind, kind, error.message);
  return error as Extract<ClientError, { kind: K }>;
}
