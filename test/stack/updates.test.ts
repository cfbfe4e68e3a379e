/** What an update of a running stack replaces: the deployment, never the API, whose address clients know. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { getStockSnapshots, listAccounts, type Operation } from '../../lib/catalogue/index.ts';
import { type Synthesised, synthesise } from './synthesise.ts';

const operations: readonly Operation[] = [getStockSnapshots, listAccounts];
const before = synthesise({ operations });

const oneMore: Operation = {
  ...getStockSnapshots,
  id: 'getInventedThings',
  path: '/market-data/invented-things/get',
  aliases: ['/openapi/invented-thing'],
};

const idOf = ({ one }: Synthesised, type: string) => one(`AWS::ApiGateway::${type}`)[0];

test('the same input gives the same template', () => {
  assert.deepEqual(synthesise({ operations }).template, before.template);
});

const changes: Readonly<Record<string, Synthesised>> = {
  'one more operation': synthesise({ operations: [...operations, oneMore] }),
  'one operation less': synthesise({ operations: [{ ...getStockSnapshots, aliases: [] }] }),
  'a group that was opened': synthesise({ operations, groups: { accounts: 'iam' } }),
  'another text': synthesise({ operations: [{ ...getStockSnapshots, title: 'Another title' }] }),
  'an origin': synthesise({ operations, cors: { origins: ['https://a.example'] } }),
};

for (const [what, after] of Object.entries(changes))
  test(`${what}: the API stays, and gets a new deployment`, () => {
    assert.equal(idOf(after, 'RestApi'), idOf(before, 'RestApi'));
    assert.equal(idOf(after, 'Stage'), idOf(before, 'Stage'));
    assert.notEqual(idOf(after, 'Deployment'), idOf(before, 'Deployment'));
    assert.deepEqual(after.one('AWS::ApiGateway::Stage')[1].Properties.DeploymentId, {
      Ref: idOf(after, 'Deployment'),
    });
  });

const elsewhere: Readonly<Record<string, Synthesised>> = {
  'a plan’s figures': synthesise({ operations, plans: { default: { ratePerSecond: 2, burst: 20 } } }),
  'more memory': synthesise({ operations, functions: { memoryMiB: 1024 } }),
  'another upstream': synthesise({
    operations,
    upstream: { baseUrl: 'https://other.example', limits: 'interface' },
  }),
};

for (const [what, after] of Object.entries(elsewhere))
  test(`${what}: every resource keeps its id, also the deployment`, () => {
    assert.deepEqual(Object.keys(after.template.Resources), Object.keys(before.template.Resources));
  });

test('what a key, the secret and the functions are called does not depend on what else is there', () => {
  const after = synthesise({
    operations: [...operations, oneMore],
    groups: { accounts: 'iam' },
    plans: { partner: {} },
  });
  for (const [id, { Type }] of Object.entries(before.template.Resources))
    if (Type !== 'AWS::ApiGateway::Deployment') assert.equal(after.template.Resources[id]?.Type, Type, id);
});

/** Logical ids that must never change: CloudFormation replaces a resource that has another, and what it holds is gone. */
const forever = {
  Secret: 'the app secret, which the operator wrote',
  Budget69569A1A: 'what was sent within the last minute, without which the limit is exceeded',
  Cache18F6EE16: 'all cached responses, which would all be fetched again at once',
  LookupsTableD8C7F3E3: 'which requests were answered, without which a replay answers them again',
  LookupsQueueA84399BD: 'requests that wait, and the address that senders know',
  LookupsDeadLettersF7C53BDD: 'requests that wait for the operator',
  LookupsBus60C919F2:
    'the address that rules and senders know; its fixed name allows no second one beside it',
  LookupsArchive1B31C277: 'requests to be replayed',
  UsersIdentityKeyF80EF680: 'the key without which no record of users and no trade event opens',
  TradeEventsTableF85E76A7: 'which orders are known, and events that the bus has not taken',
  TradeEventsBus1C79A28D: 'the address that rules know; its fixed name allows no second one beside it',
  TradingControlsTableD1621381: 'limits and stops of trading, and what is to be cancelled',
  ApiF70053CD: 'the address that clients know',
  ApiDeploymentStagev102147F91: 'the stage of a fixed name, which allows no second one beside it',
  plandefaultPlan81E9E3EC: 'how much of its quota each key has used',
  plandefaultKeydefault2350688B: 'the value of the API key that clients hold',
  ordersFunction5D7FEB28: 'the function whose reserved concurrency and alarms operators know',
  marketdataLogs79F6301E: 'the logs',
};

test('what holds data or is known to others keeps its logical id for ever', () => {
  const { template } = synthesise({
    groups: { orders: 'iam' },
    events: { archiveDays: 1 },
    tradeEvents: {},
  });
  for (const [id, holds] of Object.entries(forever)) assert.ok(template.Resources[id], `${id}: ${holds}`);
});
