/**
 * Orders of many instances on one counter, at once, over a table that refuses what meets another transaction, as DynamoDB
 * does. Time and chance are the test's own.
 */

import assert from 'node:assert/strict';
import type { TransactWriteItemsInput } from '@aws-sdk/client-dynamodb';
import { beforeEach, test, vi } from 'vitest';
import type { Item } from '../../functions/aws/dynamo-items.ts';
import { createDynamoOrderJournal } from '../../functions/aws/dynamo-order-journal.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { placeOrder } from '../../lib/catalogue/index.ts';
import type { StoredCounter } from '../../lib/guard-rails/counter.ts';
import type { Guard } from '../../lib/guard-rails/guard.ts';
import { beginChecked } from '../../lib/orders/checked-begin.ts';
import { orderBody } from '../support/core.ts';
import { useFakeTime } from '../support/fake-time.ts';
import { entryOf } from './journal.contract.ts';

const time = useFakeTime(undefined, 2);
const { names, sealer } = createIdentity(async () => 'k'.repeat(32));
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

beforeEach(() => {
  let seed = 7;
  vi.spyOn(Math, 'random').mockImplementation(() => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  });
});

/** A table whose transactions have their items for a time, and refuse others at these items meanwhile. */
function contendedTable(transactionMs: number) {
  const items = new Map<string, Item>();
  const taken = new Set<string>();
  const cancelled = (codes: readonly { readonly Code: string; readonly Item?: Item | undefined }[]) =>
    Object.assign(new Error('cancelled'), {
      name: 'TransactionCanceledException',
      $fault: 'client',
      CancellationReasons: codes,
    });
  const send = async (_: string, input: object) => {
    await sleep(2);
    const writes = ((input as TransactWriteItemsInput).TransactItems ?? []).map(({ Put, Update }) => ({
      key: (Put?.Item?.pk ?? Update?.Key?.pk)?.S ?? '',
      Put,
      values: Update?.ExpressionAttributeValues ?? {},
    }));
    const conflicts = writes.map(({ key }) => ({ Code: taken.has(key) ? 'TransactionConflict' : 'None' }));
    const reasons = writes.map(({ key, Put, values }) => {
      const Item = items.get(key);
      const isMet = !Item || (!Put && Item.revision?.N === values[':read']?.N);
      return isMet ? { Code: 'None' } : { Code: 'ConditionalCheckFailed', Item };
    });
    for (const codes of [conflicts, reasons])
      if (codes.some(({ Code }) => Code !== 'None')) {
        await sleep(codes === conflicts ? 2 : 6);
        throw cancelled(codes);
      }
    for (const { key } of writes) taken.add(key);
    await sleep(transactionMs);
    for (const { key, Put, values } of writes) {
      const state = { revision: values[':changed'] ?? { N: '' }, state: values[':next'] ?? { S: '' } };
      items.set(key, Put?.Item ?? { pk: { S: key }, ...state });
      taken.delete(key);
    }
    await sleep(2);
    return {};
  };
  return { items, client: { send } };
}

/** A limit on one counter, which adds one for each order. */
function countingGuard(): Guard {
  let seen: StoredCounter = { key: 'counter', revision: 0, state: '0' };
  return {
    async verdict({ orders }) {
      const next = String(Number(seen.state) + orders.length);
      return {
        kind: 'allowed',
        counters: [{ key: seen.key, revision: seen.revision, next }],
        exposures: orders.map(() => undefined),
        noted: [],
        counted: { at: 0, shared: [], same: [] },
        leaveBy: Number.POSITIVE_INFINITY,
      };
    },
    learn(counters) {
      seen = counters[0] ?? seen;
    },
  };
}

/** Places orders by the journal over one such table. @returns what became of an order, and when */
function startOrders(transactionMs: number) {
  const { items, client } = contendedTable(transactionMs);
  const place = async (index: number, guard: Guard) => {
    const journal = createDynamoOrderJournal({ client, tableName: 'orders', sealer });
    const part = { key: `order-${index}`, hash: 'hash', text: '{}', account: 'account' };
    const started = Date.now();
    const { kind } = await beginChecked(
      {
        journal,
        guard,
        cancels: { request: async () => false },
        names,
        clock: Date.now,
        sleep,
        lookUp: async () => undefined,
      },
      {
        change: {
          operation: placeOrder,
          query: [],
          body: orderBody(),
          headers: {},
          credential: 'credential',
          requestId: 'request',
          deadline: started + 30_000,
        },
        all: [part],
        open: [part],
        entryOf: ({ key }) => entryOf(key, { attempt: key }),
        endBy: started + 4000,
      },
    );
    return { kind, ms: Date.now() - started };
  };
  return { items, place };
}

for (const [instances, each, transactionMs] of [
  [20, 1, 20],
  [20, 5, 10],
  [20, 5, 20],
] as const)
  test(`${instances * each} orders at once from ${instances} instances begin within their four seconds, in transactions of ${transactionMs} ms`, async () => {
    const { items, place } = startOrders(transactionMs);
    const begun: string[] = [];
    for (let instance = 0; instance < instances; instance++) {
      const guard = countingGuard();
      for (let index = 0; index < each; index++)
        void place(instance * each + index, guard).then(({ kind }) => begun.push(kind));
    }
    const orders = instances * each;
    for (let passed = 0; begun.length < orders && passed < 6500; passed += 100) await time.pass(100);
    assert.deepEqual(
      begun,
      Array.from({ length: orders }, () => 'begun'),
    );
    assert.deepEqual(items.get('counter')?.state, { S: `${orders}` });
    assert.equal(items.size, orders + 1);
  });

/** The rows of docs/orders.md: orders come by chance, for ten seconds, each to the next instance. */
for (const [instances, perSecond, mayBeAway] of [
  [5, 20, false],
  [20, 20, false],
  [20, 40, true],
  [20, 60, true],
] as const)
  test(`${perSecond} orders a second from ${instances} instances: each begins or is told that the journal was away`, async () => {
    const { items, place } = startOrders(10);
    const guards = Array.from({ length: instances }, countingGuard);
    const ended: { readonly kind: string; readonly ms: number }[] = [];
    const orders = 10 * perSecond;
    for (let index = 0; index < orders; index++) {
      void place(index, guards[index % instances]!).then((one) => ended.push(one));
      await time.pass(2 * Math.round((-500 * Math.log(1 - Math.random())) / perSecond));
    }
    for (let passed = 0; ended.length < orders && passed < 6500; passed += 100) await time.pass(100);
    const begun = ended.filter(({ kind }) => kind === 'begun');
    const away = orders - begun.length;
    const times = begun.map(({ ms }) => ms).sort((a, b) => a - b);
    const at = (share: number) => `${times[Math.floor(share * (times.length - 1))]} ms`;
    console.log(`| ${instances} | ${perSecond} | ${begun.length} | ${away} | ${at(0.5)} | ${at(0.99)} |`);
    assert.equal(ended.length, orders);
    assert.ok(mayBeAway || away === 0, `${away} away`);
    // What was away has written nothing, and what begins is counted.
    assert.deepEqual(items.get('counter')?.state, { S: `${begun.length}` });
    assert.equal(items.size, begun.length + 1);
  });
