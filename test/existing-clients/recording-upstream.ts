/**
 * An upstream that takes every order and shows it, behind which the simulator answers everything else: what does not reach it,
 * the gateway has refused.
 */

import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import { findRoute, operations, routesOf } from '../../lib/catalogue/index.ts';
import { credentials } from '../support/core.ts';

/** A request that changes something, as it came over the wire. */
export interface Recorded {
  readonly target: string;
  readonly category: string | undefined;
  readonly body: string;
}

type Order = Readonly<Record<string, unknown>> & { readonly client_order_id: string };

const routes = routesOf(operations);
const list = ['new_orders', 'batch_orders', 'modify_orders'] as const;

export async function startRecordingUpstream(t: TestContext) {
  const simulator = await startSimulator(credentials);
  const recorded: Recorded[] = [];
  const shown = new Map<string, Order>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const answer = answerTo(request, body);
    if (answer === undefined) return pass(request, body, response);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });

  function answerTo({ method = '', url = '', headers }: IncomingMessage, body: string): object | undefined {
    const { pathname, searchParams } = new URL(url, 'http://upstream');
    const match = findRoute(routes, method, pathname);
    const { id, group } = match.kind === 'route' ? match.route.operation : {};
    if (id === 'getOrder') return shownOrder(shown, searchParams.get('client_order_id') ?? '');
    if (group !== 'orders' || method !== 'POST') return undefined;
    const asked = JSON.parse(body);
    const orders: readonly Order[] = list.flatMap((name) => asked[name] ?? []);
    recorded.push({ target: url, category: headers.category as string | undefined, body });
    if (id === 'previewOrder')
      return { estimated_cost: '1.00', estimated_transaction_fee: '0.00', currency: 'USD' };
    if (id === 'placeOrder') for (const order of orders) shown.set(order.client_order_id, order);
    const named = orders.length > 0 ? orders : [asked];
    const placed = named.map(({ client_order_id }) => ({
      client_order_id,
      order_id: `ORDER${client_order_id}`,
    }));
    if (id === 'batchPlaceOrders')
      return { total: placed.length, success: placed.length, failed: 0, batch_orders: placed };
    const { client_combo_order_id = 'made-by-the-upstream' } = asked;
    const isCombination = named.length > 1 || !['NORMAL', undefined].includes(named[0].combo_type);
    return isCombination ? { client_combo_order_id, combo_order_id: 'COMBINATION' } : placed[0]!;
  }

  function pass(request: IncomingMessage, body: string, response: ServerResponse): void {
    const { port } = new URL(simulator.url);
    const { method, url, rawHeaders } = request;
    const headers = Object.fromEntries(pairsOf(rawHeaders));
    forward({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(response);
    }).end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await simulator.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, recorded, accounts: simulator.accounts };
}

const pairsOf = (raw: readonly string[]) =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]!] as const] : []));

/** An order that was never placed is one of options with two legs, placed by another program. */
function shownOrder(placed: ReadonlyMap<string, Order>, clientOrderId: string): object {
  const { quantity = '1', ...asked } = placed.get(clientOrderId) ?? {
    ...placedElsewhere,
    client_order_id: clientOrderId,
  };
  const order = {
    ...asked,
    order_id: `ORDER${clientOrderId}`,
    status: 'SUBMITTED',
    total_quantity: quantity,
    filled_quantity: '0',
    place_time: Date.now() - 60_000,
  };
  return { client_order_id: clientOrderId, combo_type: 'NORMAL', orders: [order] };
}

const leg = {
  symbol: 'TSLA',
  instrument_type: 'OPTION',
  market: 'US',
  quantity: '1',
  option_type: 'CALL',
  option_expire_date: '2026-12-18',
};

const placedElsewhere = {
  symbol: 'TSLA',
  instrument_type: 'OPTION',
  market: 'US',
  side: 'BUY',
  order_type: 'LIMIT',
  limit_price: '4.10',
  quantity: '1',
  time_in_force: 'GTC',
  option_strategy: 'VERTICAL',
  legs: [
    { ...leg, id: 'LEG1', side: 'BUY', strike_price: '400' },
    { ...leg, id: 'LEG2', side: 'SELL', strike_price: '410' },
  ],
};
