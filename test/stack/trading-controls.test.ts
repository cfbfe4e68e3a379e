/** Limits and stops of trading as resources, and what opening orders to users asks for. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { test } from 'vitest';
import type { CountersignConfig } from '../../infra/stack/config.ts';
import { guardRailsPage } from '../../infra/stack/open-trading.ts';
import { controlsActions } from '../../infra/stack/trading-controls.ts';
import {
  cancelOrder,
  createWatchlist,
  getStockSnapshots,
  listAccounts,
  placeOrder,
  replaceOrder,
} from '../../lib/catalogue/index.ts';
import { calledBy } from './called-by.ts';
import { idOf, policiesOf, removals, settingsOf, synthesise, twoKeys, variablesOf } from './synthesise.ts';

const operations = [getStockSnapshots, listAccounts, placeOrder, cancelOrder];
const limits = { max_order_notional: '25000.50', max_orders_per_minute: 30 } as const;
const auth = { issuer: 'https://issuer.example', clientIds: ['app'] } as const;
const opened = synthesise({ operations, groups: { accounts: 'iam', orders: 'iam' }, trading: { limits } });

test('there is none while no open operation places or replaces orders', () => {
  for (const props of [
    { operations },
    { operations: [getStockSnapshots, cancelOrder], groups: { orders: 'iam' } },
    { operations: [createWatchlist], groups: { watchlists: 'iam' } },
  ] as const) {
    const { table, template } = synthesise(props);
    assert.equal(table('TradingControls'), undefined);
    assert.doesNotMatch(JSON.stringify(template), /TRADING_|TradingLimits|ReadTradingControls/);
  }
  const replacing = synthesise({ operations: [replaceOrder], groups: { orders: 'iam' } });
  assert.ok(replacing.table('TradingControls'));
});

test('synth says what the limits leave to one user', () => {
  const said = Annotations.fromStack(opened.app.node.findChild('Countersign-test') as Stack);
  said.hasInfo('*', Match.stringLikeRegexp('^One user alone may send half of max_orders_per_minute 30'));
});

test('the table: on demand, restorable, and protected unless it goes with the stack', () => {
  for (const [onRemoval, policy] of removals) {
    const { table } = synthesise({ operations: [placeOrder], groups: { orders: 'iam' }, onRemoval });
    const controls = table('TradingControls')?.[1];
    assert.deepEqual([controls?.DeletionPolicy, controls?.UpdateReplacePolicy], [policy, policy]);
    assert.deepEqual(controls?.Properties, {
      ...twoKeys,
      DeletionProtectionEnabled: policy === 'Retain',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
    });
  }
});

test('the function that places orders may read it, and of the functions of groups no other knows it', () => {
  const [tableId] = opened.table('TradingControls') ?? [];
  const roleOf = (name: 'orders' | 'order-cancels' | 'accounts' | 'market-data') =>
    opened.template.Resources[idOf(opened.functionOf(name)[1].Properties.Role)];
  const [own] = policiesOf(roleOf('orders')).filter(({ PolicyName }) => PolicyName === 'ReadTradingControls');
  assert.deepEqual(own?.PolicyDocument.Statement, [
    {
      Effect: 'Allow',
      Action: 'dynamodb:BatchGetItem',
      Resource: { 'Fn::GetAtt': [tableId, 'Arn'] },
    },
  ]);
  assert.deepEqual(settingsOf(opened.functionOf('orders')[1].Properties, 'TRADING'), {
    tableName: tableId,
    limits,
    orderMembers: [],
  });
  for (const name of ['order-cancels', 'accounts', 'market-data'] as const) {
    assert.doesNotMatch(JSON.stringify(roleOf(name)), /TradingControls/);
    assert.equal(variablesOf(opened.functionOf(name)[1].Properties).TRADING, undefined);
  }
});

test('the actions are those of the reader’s code', () => {
  assert.deepEqual(calledBy('dynamo-trading-controls'), controlsActions);
});

test('outputs name the table and the limits, which the command reads', () => {
  const { Outputs } = opened.template;
  assert.deepEqual(Outputs.TradingControlsTable?.Value, { Ref: opened.table('TradingControls')?.[0] });
  assert.deepEqual(JSON.parse(String(Outputs.TradingLimits?.Value)), limits);
});

const opening = (mode: 'jwt' | 'bound-key' | 'iam', trading?: CountersignConfig['trading']) =>
  synthesise({
    operations,
    groups: { orders: mode },
    ...(mode === 'jwt' && { auth }),
    ...(trading && { trading }),
  });

test('orders open to users with a maximum notional and a rate, or with the word that there are none', () => {
  const refusal = (mode: string, missing: string) => ({
    name: 'ConfigError',
    message: `trading.limits must have ${missing}, because groups.orders opens trading to users with ${mode}: bound what one order and one minute can do, or say limits: 'none'; ${guardRailsPage} says what each limit bounds.`,
  });
  const both = 'max_order_notional and max_orders_per_minute';
  for (const mode of ['jwt', 'bound-key'] as const) {
    assert.throws(() => opening(mode), refusal(mode, both));
    assert.throws(() => opening(mode, { limits: {} }), refusal(mode, both));
    const { max_order_notional, max_orders_per_minute } = limits;
    assert.throws(
      () => opening(mode, { limits: { max_order_notional } }),
      refusal(mode, 'max_orders_per_minute'),
    );
    assert.throws(
      () => opening(mode, { limits: { max_orders_per_minute } }),
      refusal(mode, 'max_order_notional'),
    );
    opening(mode, { limits });
    opening(mode, { limits: 'none' });
  }
  opening('iam');
  synthesise({ operations: [listAccounts, cancelOrder], groups: { orders: 'bound-key' } });
});

test('what is no limit is refused in a sentence that names it', () => {
  const refused = (given: unknown, message: string) =>
    assert.throws(() => opening('iam', { limits: given } as never), { name: 'ConfigError', message });
  refused(
    { max_order_notional: 10_000 },
    "trading.limits.max_order_notional takes a decimal above 0 as text, such as '10000'.",
  );
  refused(
    { max_order_notionl: '1' },
    'trading.limits.max_order_notionl is no limit. Did you mean max_order_notional?',
  );
  refused(
    { max_orders_per_minute: null },
    'trading.limits.max_orders_per_minute takes a whole number from 0 to 100000.',
  );
  refused(
    'nothing',
    "trading.limits takes an object of limits or 'none', such as { max_order_notional: '10000', max_orders_per_minute: 30 }.",
  );
});

test('the page that the sentence links to is there', () => {
  const [page = '', anchor = ''] = guardRailsPage.split('#');
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  assert.ok(anchors.includes(anchor));
});
