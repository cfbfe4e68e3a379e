/** A good call of each operation, for tests that go through all of them. */

import assert from 'node:assert/strict';
import { accountId, type Draft, orderBody } from './core.ts';

export interface GoodCall extends Draft {
  readonly body?: string;
  /** With its question mark. */
  readonly search?: string;
  /** An order that must have been placed before: its body. */
  readonly after?: string;
}

const calls: Readonly<Record<string, () => GoodCall>> = {
  listAccounts: () => ({}),
  getStockSnapshots: () => ({ search: '?symbols=AAPL%2CMSFT&category=US_STOCK' }),
  placeOrder: () => ({ body: orderBody() }),
  getOrder: () => ({
    search: `?account_id=${accountId}&client_order_id=order-to-read`,
    after: orderBody({ client_order_id: 'order-to-read' }),
  }),
};

export function callOf(operationId: string): GoodCall {
  const call = calls[operationId];
  assert.ok(call, `add a call of ${operationId} to this table`);
  return call();
}
