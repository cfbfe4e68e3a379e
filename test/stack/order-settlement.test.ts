/** The function that settles unknown orders as resources: where orders are open, each minute, and by trade events. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  checkpointActions,
  settlementActions,
  settlementIndexActions,
} from '../../infra/stack/order-settlement.ts';
import { calledBy } from './called-by.ts';
import { idOf, policiesOf, type Synthesised, settingsOf, synthesise } from './synthesise.ts';

const settlementOf = ({ all }: Synthesised) =>
  all('AWS::Lambda::Function').find(([id]) => id.startsWith('OrderSettlement'))?.[1];
const rulesOf = ({ all }: Synthesised) =>
  all('AWS::Events::Rule').filter(([, { Properties }]) =>
    /OrderSettlement/.test(JSON.stringify(Properties.Targets)),
  );

const opened = synthesise({ groups: { orders: 'iam' } });

test('there is none while no order can be placed', () => {
  assert.equal(settlementOf(synthesise({ groups: { watchlists: 'iam' } })), undefined);
  assert.ok(settlementOf(opened));
});

test('it runs each minute, and once for an event, also when it fails', () => {
  const rules = rulesOf(opened);
  assert.deepEqual(
    rules.map(([, { Properties }]) => Properties.ScheduleExpression),
    ['rate(1 minute)'],
  );
  const withEvents = rulesOf(
    synthesise({ groups: { orders: 'iam' }, tradeEvents: { endpoint: 'events.example:443' } }),
  );
  assert.deepEqual(withEvents.map(([, { Properties }]) => Properties.EventPattern).filter(Boolean), [
    { 'detail-type': ['OrderChanged'] },
  ]);
  const [, invoke] = opened
    .all('AWS::Lambda::EventInvokeConfig')
    .find(([id]) => id.startsWith('OrderSettlement'))!;
  assert.equal(invoke.Properties.MaximumRetryAttempts, 0);
});

test('it reads what is unsettled or counted and finishes it, and writes entries again where the journal was restored', () => {
  const properties = settlementOf(opened)!.Properties;
  assert.equal(settingsOf(properties, 'SETTLEMENT')?.journalTable, opened.table('OrderJournal')?.[0]);
  const policies = policiesOf(opened.template.Resources[idOf(properties.Role)]);
  const settle = JSON.stringify(policies.find(({ PolicyName }) => PolicyName === 'Settle'));
  const actions = [...settle.matchAll(/dynamodb:(\w+)/g)].map(([, action]) => action);
  assert.deepEqual(actions.sort(), [...settlementActions, ...settlementIndexActions].sort());
  assert.deepEqual(
    [...settle.matchAll(/index\/(\w+)/g)].map(([, index]) => index),
    ['Unsettled', 'Exposed'],
  );
});

test('it writes checkpoints of other tables alone', () => {
  const properties = settlementOf(opened)!.Properties;
  const policies = policiesOf(opened.template.Resources[idOf(properties.Role)]);
  const { PolicyDocument } = policies.find(({ PolicyName }) => PolicyName === 'WriteCheckpoints')!;
  for (const { Action, Condition } of PolicyDocument.Statement as readonly Readonly<
    Record<string, unknown>
  >[]) {
    assert.deepEqual(
      Action,
      checkpointActions.map((action) => `dynamodb:${action}`),
    );
    assert.deepEqual(Condition, { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['checkpoint'] } });
  }
  assert.equal(PolicyDocument.Statement.length, 2);
});

test('the actions are those of the code', () => {
  // A transaction puts items.
  assert.deepEqual(calledBy('dynamo-checkpoints'), ['BatchGetItem', 'TransactWriteItems']);
  assert.deepEqual(calledBy('dynamo-recovered-entries'), ['PutItem']);
});
