/** The limiter of a deployed function: each of the upstream's limits is counted in an item of its own. */

import assert from 'node:assert/strict';
import type { PutItemInput, UpdateItemInput } from '@aws-sdk/client-dynamodb';
import { test } from 'vitest';
import type { Item } from '../../functions/aws/dynamo-items.ts';
import { gatewayPorts } from '../../functions/aws/ports.ts';
import { composeLimiter } from '../../functions/compose/limiter.ts';
import { operations } from '../../lib/catalogue/index.ts';
import type { LimiterReport } from '../../lib/gateway/index.ts';
import { hostWith } from '../support/deployed.ts';

/** A table that takes every write, and a clock that stands still: no window is over between two permits. */
function createTable() {
  const items = new Map<string, Item>();
  const send = async (operation: string, input: object) => {
    const {
      Item,
      Key,
      ExpressionAttributeNames: names = {},
      ExpressionAttributeValues: values = {},
    } = input as Partial<PutItemInput & UpdateItemInput>;
    if (operation === 'GetItem') return { Item: items.get(Key?.pk?.S ?? '') };
    if (Item) {
      items.set(Item.pk?.S ?? '', Item);
      return {};
    }
    assert.equal(operation, 'UpdateItem');
    const item = items.get(Key?.pk?.S ?? '')!;
    const counters = { ...item.counters?.M };
    for (let index = 0; names[`#c${index}`]; index++) {
      const name = names[`#c${index}`]!;
      counters[name] = { N: String(Number(counters[name]?.N) + Number(values[`:by${index}`]?.N)) };
    }
    const Attributes = { ...item, counters: { M: counters } };
    items.set(Key?.pk?.S ?? '', Attributes);
    return { Attributes };
  };
  const ports = gatewayPorts(
    hostWith(() => {}, { functionName: 'f', clock: () => 1_790_000_000_500 }),
    () => ({ send }),
  );
  return { items, ports };
}

const unset = { reserve: undefined };

test('instruments are counted apart from all other limits, and each report says which it is about', async () => {
  const { items, ports } = createTable();
  const reports: LimiterReport[] = [];
  const { limiter } = composeLimiter(
    {
      tableName: 't',
      bucket: 'main',
      share: 1,
      operationLimits: {
        trading: { requests: 10, perSeconds: 1, for: ['orders'] },
        bars: { requests: 10, perSeconds: 60, for: ['getStockBars'], within: 'market-data' },
        sandbox: { requests: 30, perSeconds: 60, for: ['instruments'], within: 'instruments' },
      },
      upstreamLimits: 'interface',
      ...unset,
    },
    operations,
    ports,
    { observe: (report) => void reports.push(report), wrap: (one) => one },
  );
  for (const limits of [
    ['market-data', 'bars'],
    ['instruments', 'instruments-callers', 'sandbox'],
    ['instruments'],
    ['trading'],
  ] as const)
    assert.ok((await limiter.acquire({ appKey: 'k', limits })).ok, limits.join());
  await limiter.block('k', 'instruments', 1000);
  const countersOf = (prefix: string) =>
    [...items]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, { counters }]) => Object.keys(counters?.M ?? {}).filter((name) => !name.includes('/')));
  assert.equal(items.size, 2);
  assert.deepEqual(countersOf('main#'), [['market-data', 'trading', 'bars']]);
  assert.deepEqual(countersOf('main.instruments#'), [['instruments', 'instruments-callers', 'sandbox']]);
  assert.deepEqual(
    reports.map((report) => 'limit' in report && `${report.kind} ${report.limit}`),
    [
      'granted market-data',
      'granted instruments',
      'granted instruments',
      'granted trading',
      'blocked instruments',
    ],
  );
  assert.equal((await limiter.acquire({ appKey: 'k', limits: ['instruments'], waitMs: 0 })).ok, false);
  assert.ok((await limiter.acquire({ appKey: 'k', limits: ['market-data'] })).ok);
});

test('an endpoint of market data is counted beside the common limit, any other in an item of its own', async () => {
  const { items, ports } = createTable();
  const { limiter } = composeLimiter(
    { tableName: 't', bucket: 'main', share: 1, operationLimits: {}, upstreamLimits: 'published', ...unset },
    operations,
    ports,
    undefined,
  );
  for (const limits of [
    ['market-data', 'endpoint.getStockSnapshots'],
    ['instruments', 'instruments-callers'],
    ['endpoint.placeOrder'],
    ['endpoint.listOpenOrders'],
  ] as const)
    assert.ok((await limiter.acquire({ appKey: 'k', limits })).ok, limits.join());
  const names = [...items].map(([key, { counters }]) => [
    key.split('#')[0],
    ...Object.keys(counters?.M ?? {}).filter((name) => !name.includes('/')),
  ]);
  assert.deepEqual(names, [
    ['main', 'market-data', 'endpoint.getStockSnapshots'],
    ['main.instruments', 'instruments', 'instruments-callers'],
    ['main.endpoint.placeOrder', 'endpoint.placeOrder'],
    ['main.endpoint.listOpenOrders', 'endpoint.listOpenOrders'],
  ]);
  // Two before a window is over.
  const again = () => limiter.acquire({ appKey: 'k', limits: ['endpoint.listOpenOrders'], waitMs: 0 });
  assert.deepEqual([(await again()).ok, (await again()).ok], [true, false]);
});
