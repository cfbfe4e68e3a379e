/** One validation: gateway, client and events name the same wrong places, each in its own words. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { listStockBars, operations, placeOrder } from '../../lib/catalogue/index.ts';
import { createClient, InvalidRequestError, viaGateway } from '../../lib/client/index.ts';
import { parseRequest } from '../../lib/events/index.ts';
import { validate } from '../../lib/gateway/validate.ts';
import { isRefusal } from '../../lib/problem.ts';
import { newOrder } from '../support/core.ts';

type Named = readonly { readonly name: string; readonly detail: string; readonly allowed?: string }[];

const client = createClient({ placeOrder, listStockBars }, viaGateway({ baseUrl: 'https://example.com' }));

async function byClient(call: Promise<unknown>): Promise<Named> {
  const error = await call.then(
    () => assert.fail('fulfilled'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof InvalidRequestError, `${error}`);
  return error.faults;
}

function byGateway(operation: Parameters<typeof validate>[0], body: unknown): Named {
  const encoded = new TextEncoder().encode(JSON.stringify(body));
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', path: '', query: [], headers, requestId: '1', body: encoded };
  const checked = validate(operation, request);
  assert.ok(isRefusal(checked));
  return checked.errors ?? [];
}

/** Without the message of a bound, which the gateway alone passes on. */
const places = (faults: Named) => faults.map(({ name, allowed }) => [name, allowed]);

test('a body: the same places, and the same that would be right', async () => {
  for (const body of [
    {},
    { account_id: '', new_orders: [] },
    {
      account_id: 'a',
      new_orders: [newOrder({ side: 'HOLD', limit_price: '1,1', expire_date: '2026-02-31' })],
    },
    { account_id: 'a', new_orders: [newOrder({ client_order_id: 'x'.repeat(41), quantity: undefined })] },
    { account_id: 'a', new_orders: [newOrder({ client_order_id: 'order-a&b' }), 1] },
  ]) {
    const faults = await byClient(client.placeOrder(body as Parameters<typeof client.placeOrder>[0]));
    assert.ok(faults.length > 0);
    assert.deepEqual(places(faults), places(byGateway(placeOrder, body)));
  }
});

test('a read by event: as the gateway words it', () => {
  const body = { symbols: 'AAPL', category: 'US' };
  const parsed = parseRequest({ request_id: 'r', operation: 'listStockBars', body }, operations);
  assert.ok(!parsed.ok);
  assert.deepEqual(
    parsed.faults,
    byGateway(listStockBars, body).map((fault) => {
      const { in: _, ...rest } = fault as typeof fault & { in?: string };
      return rest;
    }),
  );
});

test('the words of each: a missing member, a value of another form, a bound', async () => {
  const body = { account_id: 'a', new_orders: [newOrder({ client_order_id: 'x'.repeat(41), side: 'HOLD' })] };
  const { account_id: _, ...missing } = body;
  const words = (faults: Named) => faults.map(({ name, detail }) => `${name}: ${detail}`).sort();
  assert.deepEqual(words(byGateway(placeOrder, missing)), [
    '/account_id: required',
    '/new_orders/0/client_order_id: too long',
    '/new_orders/0/side: not an allowed value',
  ]);
  assert.deepEqual(
    words(await byClient(client.placeOrder(missing as unknown as Parameters<typeof client.placeOrder>[0]))),
    [
      '/account_id: is required',
      '/new_orders/0/client_order_id: is not an allowed value',
      '/new_orders/0/side: is not an allowed value',
    ],
  );
  const parsed = parseRequest({ symbols: 'A', category: 'US', more: 1, max_age_seconds: -1 }, operations);
  assert.ok(!parsed.ok);
  assert.deepEqual(words(parsed.faults), [
    'category: not an allowed value',
    'max_age_seconds: not an allowed value',
    'more: no member of this event',
    'request_id: required',
    'symbols: not an allowed value',
  ]);
});

test('a number in place of a decimal, by event: refused in words that do not allow it', () => {
  const body = { account_id: 'a', new_orders: [newOrder({ quantity: 10 })] };
  const parsed = parseRequest({ request_id: 'r', operation: 'previewOrder', body }, operations);
  assert.ok(!parsed.ok);
  const { allowed } = parsed.faults.find(({ name }) => name === '/new_orders/0/quantity') ?? {};
  assert.equal(allowed, 'a decimal number in a string');
});
