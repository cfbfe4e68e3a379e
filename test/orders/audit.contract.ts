/** The contract of every store of the audit: lines are added, once each, and read in the order of time. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { OrderAuditStore } from '../../lib/orders/audit.ts';
import type { AuditLine } from '../../lib/orders/audit-line.ts';
import { each } from '../support/each.ts';

const day = 86_400_000;
export const now = Date.UTC(2036, 0, 1, 23, 59, 59, 500);

export const lineOf = (change: Partial<AuditLine> = {}): AuditLine => ({
  id: 'entry#attempt#accepted#1',
  at: now,
  sequence: '1',
  entry: 'entry',
  attempt: 'attempt',
  before: 'pending',
  after: 'accepted',
  record: {
    operation: 'placeOrder',
    kind: 'placement',
    account_id: 'CANARY-ACCOUNT',
    client_order_id: 'CANARY-ORDER',
    asked: '{"limit_price":1.10,"name":"⚖"}',
    request_id: 'request-1',
    user: 'keyed-user',
    app: 'keyed-app',
    begun_at: '2036-01-01T23:59:59.000Z',
    outcome: { evidence: 'answer', at: '2036-01-01T23:59:59.400Z', answer: '{"order_id":"CANARY-ID"}' },
  },
  ...change,
});

export async function linesIn(store: OrderAuditStore, since: number, until: number): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  for await (const line of store.read(since, until)) lines.push(line);
  return lines;
}

/** @param create gives an empty store */
export function orderAuditContract(
  name: string,
  create: () => OrderAuditStore | Promise<OrderAuditStore>,
): void {
  const check = (what: string, run: (store: OrderAuditStore) => Promise<void>) =>
    test(`${name}: ${what}`, async () => run(await create()));

  check('a line is read as it was added', async (store) => {
    const { before: _, record: __, ...bare } = lineOf({ id: 'bare', after: 'removed' });
    for (const line of [lineOf(), bare]) assert.equal(await store.append(line), true);
    const read = await linesIn(store, now, now + 1);
    assert.deepEqual(
      read.toSorted((a, b) => a.id.localeCompare(b.id)),
      [bare, lineOf()],
    );
  });

  check('a line that is there stays as it is', async (store) => {
    assert.equal(await store.append(lineOf()), true);
    assert.equal(await store.append(lineOf()), false);
    assert.equal(await store.append(lineOf({ after: 'refused' })), false);
    assert.deepEqual(await linesIn(store, now - day, now + day), [lineOf()]);
  });

  check(
    'lines of several days come in the order of time, the first moment with them and the last not',
    async (store) => {
      const times = [now + 2 * day, now - 1, now + 1000, now, now + 2 * day + 1];
      for (const at of times) await store.append(lineOf({ id: `line-${at}`, at }));
      const read = await linesIn(store, now, now + 2 * day + 1);
      assert.deepEqual(each(read, 'at'), [now, now + 1000, now + 2 * day]);
      assert.deepEqual(await linesIn(store, now, now), []);
    },
  );

  check('changes of one moment come in the order of the stream’s numbers', async (store) => {
    const sequences = ['300000000000000000000000002', '300000000000000000000000001', '9'];
    for (const sequence of sequences)
      assert.equal(
        await store.append(lineOf({ id: `a ${100 - sequence.length} ${sequence}`, sequence })),
        true,
      );
    assert.deepEqual(each(await linesIn(store, now, now + 1), 'sequence'), sequences.toReversed());
  });
}
