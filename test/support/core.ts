/** The gateway's core in front of the simulated upstream, for one test. */

import assert from 'node:assert/strict';
import type { TestContext } from 'vitest';
import { type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type GatewayRequest,
  type GatewayResponse,
  type RequestReport,
} from '../../lib/gateway/index.ts';
import { newOrder } from './orders.ts';

export { newOrder };

export const credentials = { appKey: 'core-test-app-key', appSecret: 'core-test-app-secret' };

export const snapshotPath = '/openapi/market-data/stock/snapshot';
export const snapshotTarget = `${snapshotPath}?symbols=AAPL&category=US_STOCK`;
export const accountsPath = '/trading/accounts/list';
export const orderPath = '/trade/place_order';
/** An account of every simulated upstream. */
export const accountId = 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S';

export const orderBody = (change: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({ account_id: accountId, new_orders: [newOrder(change)] });

export const secretText = (
  { appKey, appSecret }: { appKey: string; appSecret: string } = credentials,
  accessToken?: string,
) => JSON.stringify({ app_key: appKey, app_secret: appSecret, access_token: accessToken });

export interface Draft {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** In place of the target's. */
  readonly query?: GatewayRequest['query'];
  readonly requestId?: string;
}

/**
 * A request to the core, from a client that reads nested refusals unless its headers say otherwise; the method is what the
 * operation's tests usually mean: POST with a body.
 */
export function requestOf(
  target: string,
  { headers = {}, body, query, requestId = 'request-1' }: Draft = {},
  method = body === undefined ? 'GET' : 'POST',
): GatewayRequest {
  const [path = '', search] = target.split('?');
  return {
    method,
    path,
    query: query ?? [...new URLSearchParams(search)],
    headers: {
      accept: 'application/problem+json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    requestId,
    ...(body !== undefined && { body: typeof body === 'string' ? new TextEncoder().encode(body) : body }),
  };
}

export interface Reply extends GatewayResponse {
  readonly text: string;
}

export async function ask(gateway: Gateway, target: string, draft?: Draft, method?: string): Promise<Reply> {
  const response = await gateway.handle(requestOf(target, draft, method));
  return { ...response, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(response.body) };
}

/** Members of a problem+json answer, as far as tests read them. */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly request_id: string;
  readonly error_code: string;
  readonly message: string;
  readonly find_out?: string;
  readonly errors?: readonly {
    readonly in: string;
    readonly name: string;
    readonly detail: string;
    readonly allowed?: string;
    readonly received?: string;
    readonly check?: string;
  }[];
  readonly upstream_status?: number;
  readonly upstream_error_code?: string;
  readonly upstream_message?: string;
  readonly upstream_request_id?: string;
  readonly cause?: string;
}

/** What a refusal says of the upstream, if it says anything. */
export function upstreamOf(problem: Problem) {
  const members = Object.entries(problem).filter(([name]) => name.startsWith('upstream_'));
  if (members.length === 0) return undefined;
  return Object.fromEntries(members.map(([name, value]) => [name.slice('upstream_'.length), value]));
}

/**
 * Reads a refusal, and holds it to what is true of each: its members agree with each other and the headers; besides, to
 * what is expected of this one.
 */
export function problemOf(
  reply: Reply,
  expected: { readonly [Name in keyof Problem]?: Problem[Name] | undefined } = {},
  requestId = 'request-1',
): Problem {
  const problem = JSON.parse(reply.text) as Problem;
  assert.equal(reply.headers['content-type'], 'application/problem+json');
  assert.equal(reply.headers['cache-control'], 'no-store');
  assert.equal(reply.headers['x-request-id'], requestId);
  assert.equal(problem.request_id, requestId);
  assert.equal(problem.status, reply.status);
  for (const member of ['title', 'detail', 'code', 'error_code', 'message'] as const)
    assert.ok(typeof problem[member] === 'string' && problem[member] !== '', member);
  const names = Object.keys(expected) as (keyof Problem)[];
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, problem[name]])), expected);
  return problem;
}

/** A gateway for a single user with the credentials of the tests, in front of an upstream that the options name, or of none. */
export const gatewayOf = (options: Partial<GatewayOptions> = {}) =>
  createGateway({
    operations,
    upstreamBaseUrl: 'https://upstream.example',
    secrets: { read: async () => secretText() },
    access: 'single-user',
    ...options,
  });

/** A simulator and a gateway in front of it; the caller closes the simulator. */
export async function startCore(
  simulated: Partial<SimulatorOptions> = {},
  options: Partial<GatewayOptions> = {},
) {
  const simulator = await startSimulator({ ...credentials, ...simulated });
  const reports: RequestReport[] = [];
  const gateway = gatewayOf({
    upstreamBaseUrl: simulator.url,
    // A test that waits for an answer that does not come says how long.
    upstreamTimeoutMs: 120_000,
    report: (report) => reports.push(report),
    ...options,
  });
  return { simulator, gateway, reports };
}

/** The same for one test, after which it ends. */
export async function coreFor(t: TestContext, ...given: Parameters<typeof startCore>) {
  const core = await startCore(...given);
  t.onTestFinished(() => core.simulator.close());
  return core;
}
