/**
 * Orders of many instances on one counter, at once, over a table that refuses what meets another transaction, as DynamoDB
 * does. Time and chance are the test's own.
 */

import assert from 'node:assert/strict';
import type { TransactWriteItemsInput } from '@aws-sdk/client-dynamodb';
import { beforeEach, test, vi } from 'vitest';
import { DynamoError } from '../../../functions/aws/dynamo-http.ts';
import { createDynamoOrderJournal } from '../../../functions/aws/dynamo-order-journal.ts';
import { isConflict } from '../../../functions/aws/dynamo-transaction.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { placeOrder } from '../../../lib/catalogue/index.ts';
import type { StoredCounter } from '../../../lib/guard-rails/counter.ts';
import type { Guard } from '../../../lib/guard-rails/guard.ts';
import { beginChecked } from '../../../lib/orders/checked-begin.ts';
import { orderBody } from '../../support/core.ts';
import type { Item } from '../../world/dynamo.ts';
import { DynamoTables } from '../../world/dynamo-tables.ts';
import { useFakeTime } from '../../world/test-time.ts';
import { entryOf } from '../journal.contract.ts';

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
  const tables = new DynamoTables();
  const taken = new Set<string>();
  let before: Promise<unknown> = Promise.resolve();
  const written = async (operation: string, input: object, keys: readonly string[]) => {
    const CancellationReasons = keys.map((key) => ({
      Code: taken.has(key) ? 'TransactionConflict' : 'None',
    }));
    if (keys.some((key) => taken.has(key)))
      throw new DynamoError(400, { __type: 'x#TransactionCanceledException', CancellationReasons });
    await tables.send(operation, input);
    for (const key of keys) taken.add(key);
  };
  const send = async (operation: string, input: object): Promise<never> => {
    await sleep(2);
    const { TransactItems = [] } = input as Partial<TransactWriteItemsInput>;
    const keys = TransactItems.map(({ Put, Update }) => (Put?.Item?.pk ?? Update?.Key?.pk)?.S ?? '');
    // Also those of one moment come one after the other.
    const done = before.then(() => written(operation, input, keys));
    before = done.catch(() => {});
    await done.catch(async (error: unknown) => {
      await sleep(isConflict(error) ? 2 : 6);
      throw error;
    });
    await sleep(transactionMs);
    for (const key of keys) taken.delete(key);
    await sleep(2);
    return {} as never;
  };
  return { items: () => tables.items('orders'), client: { send } };
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
        counted: { at: 0, shared: [], own: [], same: [] },
        leaveBy: Number.POSITIVE_INFINITY,
      };
    },
    learn(counters) {
      seen = counters[0] ?? seen;
    },
  };
}

const countIn = (items: readonly Item[]) => Number(items.find(({ pk }) => pk?.S === 'counter')?.state?.S);

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
    assert.equal(countIn(items()), orders);
    assert.equal(items().length, orders + 1);
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
    assert.equal(countIn(items()), begun.length);
    assert.equal(items().length, begun.length + 1);
  });
