/** Which function a route leads to, and what is reserved for it: no read takes an instance that an order or a cancel needs. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type FunctionName, functionOf, functionsOf } from '../../functions/rows.ts';
import {
  operations as catalogue,
  getStockSnapshots,
  listAccounts,
  placeOrder,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { each } from '../support/each.ts';
import { idOf, policiesOf, settingsOf, synthesise } from './synthesise.ts';

const operations = [getStockSnapshots, listAccounts, placeOrder];
const groups = { accounts: 'iam', orders: 'iam' } as const;

function reserved(reservedConcurrency: 'none' | Partial<Record<FunctionName, number | 'none'>> = {}) {
  const { functionOf } = synthesise({ operations, groups, functions: { reservedConcurrency } });
  const of = (name: FunctionName) => functionOf(name)[1].Properties.ReservedConcurrentExecutions;
  return [of('market-data'), of('accounts'), of('orders')];
}

test('groups with side effects have instances of their own, the others share what is left', () => {
  assert.deepEqual(reserved(), [undefined, undefined, 10]);
});

test('figures of the deployer’s, and none', () => {
  assert.deepEqual(reserved({ 'market-data': 500, accounts: 5, orders: 'none' }), [500, 5, undefined]);
});

test('one word for every function, as a new account needs it', () => {
  assert.deepEqual(reserved('none'), [undefined, undefined, undefined]);
});

test('by default, where nothing has a side effect, nothing of the account is reserved', () => {
  const { all } = synthesise();
  for (const [id, { Properties }] of all('AWS::Lambda::Function'))
    assert.equal(Properties.ReservedConcurrentExecutions, undefined, id);
});

// Streams have those of `live`.
const ofOrders = functionsOf('orders').filter((name) => name !== 'order-streams');

test('cancels have instances of their own, and reads of orders take none from them or from placing', () => {
  const { functionOf } = synthesise({ groups: { orders: 'iam' } });
  const instances = ofOrders.map((name) => functionOf(name)[1].Properties.ReservedConcurrentExecutions);
  assert.deepEqual(ofOrders, ['orders', 'order-cancels', 'order-reads']);
  assert.deepEqual(instances, [10, 5, undefined]);
});

test('each route of orders leads to the function of its operation, by every alias and in older forms', () => {
  const { functionOf: resourceOf, one, all } = synthesise({ groups: { orders: 'iam' } });
  const { paths } = one('AWS::ApiGateway::RestApi')[1].Properties.Body as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  const led = new Map<FunctionName, Set<string>>();
  for (const { path, method, operation } of routesOf(catalogue.filter(({ group }) => group === 'orders'))) {
    const integration = paths[path]?.[method.toLowerCase()]?.['x-amazon-apigateway-integration'];
    const targets = all('AWS::Lambda::Function').filter(([id]) =>
      JSON.stringify(integration).includes(`"${id}"`),
    );
    const name = functionOf(operation);
    assert.deepEqual(targets, [resourceOf(name)], path);
    led.set(name, (led.get(name) ?? new Set()).add(operation.id));
  }
  assert.deepEqual(Object.fromEntries([...led].map(([name, ids]) => [name, [...ids].sort()])), {
    orders: ['batchPlaceOrders', 'placeOrder', 'previewOrder', 'replaceOrder'],
    'order-cancels': ['cancelOrder'],
    'order-reads': [
      'getOrder',
      'getOrderOutcome',
      'legacyListOpenOrders',
      'legacyListOrderHistory',
      'listOpenOrders',
      'listOrderHistory',
    ],
  });
});

test('each of the three has a role and variables of its own, for its own operations', () => {
  const paths = { placeOrder: '/p/place', cancelOrder: '/p/cancel', getOrder: '/p/get' };
  const upstream = { baseUrl: 'https://upstream.example', limits: 'published', paths } as const;
  const { functionOf, template } = synthesise({ groups: { orders: 'iam' }, upstream });
  const properties = (name: FunctionName) => functionOf(name)[1].Properties;
  const roles = new Set(ofOrders.map((name) => idOf(properties(name).Role)));
  assert.equal(roles.size, ofOrders.length);
  for (const name of ofOrders) {
    const policies = policiesOf(template.Resources[idOf(properties(name).Role)]);
    assert.deepEqual(
      each(policies, 'PolicyName'),
      [
        'ReadSecret',
        'CountRequests',
        'ShareAnswers',
        'ReadUsers',
        'ReadIdentityKey',
        name === 'order-reads' ? 'ReadJournal' : 'KeepJournal',
        ...(name === 'orders' ? ['ReadQuotes', 'ReadTradingControls', 'AskToCancel'] : []),
        'WriteLog',
      ],
      name,
    );
    assert.equal(settingsOf(properties(name), 'UPSTREAM')?.limits, 'published');
  }
  const pathsOf = (name: FunctionName) => settingsOf(properties(name), 'UPSTREAM')?.paths;
  // With the look-up of an order whose answer was lost.
  assert.deepEqual(pathsOf('order-cancels'), { cancelOrder: '/p/cancel', getOrder: '/p/get' });
  assert.deepEqual(pathsOf('order-reads'), { getOrder: '/p/get' });
  assert.deepEqual(pathsOf('orders'), { placeOrder: '/p/place', getOrder: '/p/get' });
});
