/** The function that places orders reads what quotes are shared, where there are any; no other function does. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { orders } from '../../functions/compose/order-offers.ts';
import { type FunctionName, functionOf, operationsIn } from '../../functions/rows.ts';
import { readFunctionSettings } from '../../functions/settings/function-settings.ts';
import { lastPriceActions } from '../../infra/stack/group-functions.ts';
import {
  cancelOrder,
  operations as catalogue,
  getOrder,
  getStockSnapshots,
  listAccounts,
  placeOrder,
  previewOrder,
} from '../../lib/catalogue/index.ts';
import { calledBy } from './called-by.ts';
import { environmentOf, idOf, policiesOf, type Synthesised, settingsOf, synthesise } from './synthesise.ts';

const groups = { accounts: 'iam', orders: 'iam' } as const;
const operations = [getStockSnapshots, listAccounts, placeOrder, previewOrder, cancelOrder, getOrder];

function accessOf({ functionOf, template }: Synthesised, name: FunctionName) {
  const [, { Properties }] = functionOf(name);
  const policies = policiesOf(template.Resources[idOf(Properties.Role)]);
  return {
    env: environmentOf(Properties),
    prices: settingsOf(Properties, 'LAST_PRICES'),
    statements: policies.find(({ PolicyName }) => PolicyName === 'ReadQuotes')?.PolicyDocument.Statement,
    counts: policies.some(({ PolicyName }) => PolicyName === 'CountRequests'),
  };
}

test('the function of orders may read items of the cache by their keys, and count its calls', () => {
  const everything = synthesise({ groups, operations });
  const [tableId] = everything.table('Cache') ?? [];
  for (const name of new Set(operations.map(functionOf))) {
    const { env, prices, statements, counts } = accessOf(everything, name);
    if (name !== 'orders') {
      assert.deepEqual([prices, statements], [undefined, undefined], name);
      continue;
    }
    assert.equal(prices?.tableName, tableId);
    assert.deepEqual(statements, [
      {
        Effect: 'Allow',
        Action: 'dynamodb:BatchGetItem',
        Resource: { 'Fn::GetAtt': [tableId, 'Arn'] },
      },
    ]);
    assert.ok(counts);
    assert.ok(env.LIMITER);
  }
});

test('it counts and sends as the function of market data does, and the settings are those that the function takes', () => {
  const elsewhere = '/elsewhere/snapshots';
  const synthesised = synthesise({
    groups,
    operations,
    upstream: {
      baseUrl: 'https://upstream.example',
      limits: 'published',
      paths: { getStockSnapshots: elsewhere },
    },
    limiter: { share: 0.5, bucket: 'team' },
  });
  const own = accessOf(synthesised, 'orders').env;
  const others = accessOf(synthesised, 'market-data').env;
  for (const name of ['UPSTREAM', 'LIMITER']) assert.equal(own[name], others[name], name);
  const { checks } = orders();
  const read = readFunctionSettings(own, operationsIn('orders', catalogue), checks);
  assert.ok(read.ok, JSON.stringify(read));
  assert.deepEqual(read.settings.upstreamPaths, { getStockSnapshots: elsewhere });
  assert.equal(read.settings.limiter?.bucket, 'team');
  assert.deepEqual(read.settings.lastPrices, { tableName: synthesised.table('Cache')?.[0], ...checks });
});

test('where nothing is placed, no quotes are open, or nothing is shared, there is none', () => {
  for (const props of [
    { groups, operations, cache: 'off' },
    { groups, operations: [getStockSnapshots, listAccounts, previewOrder] },
    { groups, operations: [listAccounts, previewOrder, placeOrder] },
    { groups: { ...groups, 'market-data': 'closed' }, operations },
    { operations },
  ] as const)
    assert.doesNotMatch(JSON.stringify(synthesise(props).template), /LAST_PRICES|ReadQuotes/);
});

test('what is granted is what the reader calls', () => {
  assert.deepEqual(calledBy('dynamo-snapshot-reads'), lastPriceActions);
});
