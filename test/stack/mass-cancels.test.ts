/** The function that cancels what is open as resources: where trading can be stopped, by the stream and each minute. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { massCancelActions } from '../../infra/stack/mass-cancels.ts';
import { journalActions } from '../../infra/stack/order-journal.ts';
import { massCancelRequestActions } from '../../infra/stack/trading-controls.ts';
import { cancelOrder, placeOrder, replaceOrder } from '../../lib/catalogue/index.ts';
import { each } from '../support/each.ts';
import { calledBy } from './called-by.ts';
import { idOf, policiesOf, type Synthesised, settingsOf, synthesise, variablesOf } from './synthesise.ts';

const massCancelsOf = ({ all }: Synthesised) =>
  all('AWS::Lambda::Function').find(([id]) => id.startsWith('MassCancels'))?.[1];
const roleOf = (stack: Synthesised) => stack.template.Resources[idOf(massCancelsOf(stack)?.Properties.Role)];
const policyOf = (stack: Synthesised, name: string) =>
  policiesOf(roleOf(stack)).find(({ PolicyName }) => PolicyName === name)?.PolicyDocument.Statement;

const opened = synthesise({ groups: { orders: 'iam' } });
const [tableId = ''] = opened.table('TradingControls') ?? [];
const inMassCancels = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['mass-cancel'] } };

test('there is one where limits and stops are, and none elsewhere', () => {
  for (const operation of [placeOrder, replaceOrder])
    assert.ok(massCancelsOf(synthesise({ operations: [operation], groups: { orders: 'iam' } })));
  for (const props of [
    { operations: [cancelOrder], groups: { orders: 'iam' } },
    { groups: { watchlists: 'iam' } },
  ] as const) {
    const { template } = synthesise(props);
    assert.doesNotMatch(JSON.stringify(template), /MassCancel|mass-cancel/);
  }
});

test('it runs each minute, and at once for a request, not for what else changes in the table', () => {
  const rules = opened
    .all('AWS::Events::Rule')
    .filter(([, { Properties }]) => /MassCancels/.test(JSON.stringify(Properties.Targets)));
  assert.deepEqual(
    rules.map(([, { Properties }]) => Properties.ScheduleExpression),
    ['rate(1 minute)'],
  );
  const [, mapping] = opened
    .all('AWS::Lambda::EventSourceMapping')
    .find(([id]) => id.startsWith('MassCancels'))!;
  const { EventSourceArn, FilterCriteria, StartingPosition, MaximumRetryAttempts } = mapping.Properties;
  assert.deepEqual(EventSourceArn, { 'Fn::GetAtt': [tableId, 'StreamArn'] });
  const { Filters } = FilterCriteria as { readonly Filters: readonly { readonly Pattern: string }[] };
  assert.deepEqual(
    Filters.map(({ Pattern }) => JSON.parse(Pattern)),
    [{ eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: ['mass-cancel'] } } } }],
  );
  // A run that fails is not repeated before the next minute: nothing of it would be other.
  assert.deepEqual([StartingPosition, MaximumRetryAttempts], ['LATEST', 0]);
  const [, invoke] = opened
    .all('AWS::Lambda::EventInvokeConfig')
    .find(([id]) => id.startsWith('MassCancels'))!;
  assert.equal(invoke.Properties.MaximumRetryAttempts, 0);
});

test('the table’s stream has keys alone', () => {
  assert.deepEqual(opened.table('TradingControls')?.[1].Properties.StreamSpecification, {
    StreamViewType: 'KEYS_ONLY',
  });
});

test('it knows the secret, the identity key, the limiter, the journal and the controls, and no user', () => {
  const { Properties } = massCancelsOf(opened)!;
  assert.equal(settingsOf(Properties, 'MASS_CANCELS')?.controlsTable, tableId);
  for (const [name, table] of [
    ['JOURNAL', 'OrderJournal'],
    ['LIMITER', 'Budget'],
    ['CACHE', 'Cache'],
  ] as const)
    assert.equal(settingsOf(Properties, name)?.tableName, opened.table(table)?.[0], name);
  assert.deepEqual(Object.keys(variablesOf(Properties)).sort(), [
    'CACHE',
    'IDENTITY',
    'JOURNAL',
    'LIMITER',
    'MASS_CANCELS',
    'UPSTREAM',
  ]);
  assert.deepEqual(each(policiesOf(roleOf(opened)), 'PolicyName'), [
    'ReadSecret',
    'CountRequests',
    'ShareAnswers',
    'KeepJournal',
    'ReadIdentityKey',
    'FinishMassCancels',
    'ReadStream',
    'WriteLog',
  ]);
  assert.match(
    JSON.stringify(policyOf(opened, 'KeepJournal')),
    new RegExp(journalActions.map((action) => `"dynamodb:${action}"`).join()),
  );
});

test('of the table of controls it may touch requests alone, and so may the function that places orders', () => {
  const statement = (actions: readonly string[]) => {
    const all = actions.map((action) => `dynamodb:${action}`);
    return [
      {
        Effect: 'Allow',
        Action: all.length === 1 ? all[0] : all,
        Resource: { 'Fn::GetAtt': [tableId, 'Arn'] },
        Condition: inMassCancels,
      },
    ];
  };
  assert.deepEqual(policyOf(opened, 'FinishMassCancels'), statement(massCancelActions));
  const placing = opened.template.Resources[idOf(opened.functionOf('orders')[1].Properties.Role)];
  const asking = policiesOf(placing).find(({ PolicyName }) => PolicyName === 'AskToCancel');
  assert.deepEqual(asking?.PolicyDocument.Statement, statement(massCancelRequestActions));
  for (const name of ['order-cancels', 'order-reads'] as const) {
    const role = opened.template.Resources[idOf(opened.functionOf(name)[1].Properties.Role)];
    assert.doesNotMatch(JSON.stringify(role), /AskToCancel|TradingControls/);
  }
});

test('the actions are those of the code', () => {
  assert.deepEqual(calledBy('dynamo-mass-cancels'), massCancelActions);
  assert.deepEqual(calledBy('dynamo-mass-cancel-requests'), massCancelRequestActions);
});

test('an instance is kept free for it where orders have some, and it has no second one', () => {
  const reserved = (stack: Synthesised) => massCancelsOf(stack)?.Properties.ReservedConcurrentExecutions;
  assert.equal(reserved(opened), 1);
  for (const reservedConcurrency of ['none', { orders: 'none' }] as const)
    assert.equal(
      reserved(synthesise({ groups: { orders: 'iam' }, functions: { reservedConcurrency } })),
      undefined,
    );
});
