/**
 * Least privilege both ways, with everything on and roles enforced: whatever a function calls it may call, and whatever it
 * may call is called. Functions that have the same policy share the proof of its single actions, because which of them a
 * store needs depends on what others wrote before; that a function uses the policy at all is its own to show.
 */

import assert from 'node:assert/strict';
import { InvokeCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { beforeAll, describe, test } from 'vitest';
import {
  createWatchlist,
  getOrderOutcome,
  listAccounts,
  listOpenOrders,
  listWatchlists,
} from '../../../lib/catalogue/index.ts';
import { ask, deployedStage, pause } from '../../emulator/deployed-stage.ts';
import { clientConfig } from '../../emulator/deployment.ts';
import { drain } from '../../emulator/replies.ts';
import { callsOf, type Right, rightsOf } from '../../emulator/roles.ts';
import { accountId, newOrder, orderPath } from '../../support/core.ts';
import { needsEmulator } from '../../support/missing-emulator.ts';
import { leaveNothing, limits, smoke } from '../scenarios.ts';
import { platformNames, type Scene } from '../scene.ts';
import { stageScene } from '../stage-scene.ts';

const many = { requests: 6000, perSeconds: 60 };

/** Rights that no call here uses: by policy, which actions, and why it has them. */
const unseen: readonly (readonly [policy: string, actions: RegExp, why: string])[] = [
  ['WriteLog', /./, 'Lambda writes a function’s log with the function’s role'],
  ['ReadStream', /./, 'Lambda reads a stream with the role of the function that it calls'],
  ['NoteLost', /./, 'Lambda sends what a function failed on with the function’s role'],
  ['TakeRequests', /Receive|Delete|Attributes/, 'Lambda takes messages with the role of the function'],
  ['TakeRequests', /SendMessage/, 'what waits for its turn goes back: lookups-under-fire.test.ts'],
  ['FinishMassCancels', /DeleteItem/, 'after lists had time to show all: mass-cancels.test.ts'],
  ['ReadOrderAudit', /Query/, 'after a restore of the journal: scenarios-dynamo.test.ts'],
  ['ShareAnswers', /BatchGetItem/, 'refreshes whose record came late: test/snapshots'],
];

describe('with roles enforced', needsEmulator(), () => {
  let scene: Scene;
  let rights: readonly Right[] = [];
  const stage = deployedStage({
    enforced: true,
    props: {
      groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
      // Of these kinds there is no limit otherwise, unless the upstream’s answers show one.
      upstream: { limits: { 'order-change': many, 'order-query': many, 'accounts-list': many, token: many } },
      trading: { limits, stopOnAlarms: { names: ['drawdown'], cancelOpen: true } },
      events: { groups: ['market-data', 'orders', 'accounts'] },
      tradeEvents: {},
      accessToken: {},
    },
    async prepare(stage) {
      scene = { ...(await stageScene(stage)), tellsOrders: false };
    },
  });

  let orders = 0;
  async function place(quantity: string): Promise<string> {
    const client_order_id = `least-privilege-${++orders}`;
    const order = newOrder({ client_order_id, order_type: 'LIMIT', limit_price: '1', quantity });
    await scene.ask(orderPath, { account_id: accountId, new_orders: [order] });
    return client_order_id;
  }

  async function readAll(): Promise<void> {
    const targets = [
      '/trading/instruments/stocks/profiles/list?category=US_STOCK&symbols=MSFT',
      '/market-data/screeners/top-actives/list?category=US_STOCK',
      '/market-data/fundamentals/company-profiles/get?symbol=AAPL&category=US_STOCK',
      '/openapi/market-data/stock/quotes?symbol=MSFT&category=US_STOCK',
      listWatchlists.path,
      listAccounts.path,
      `${listOpenOrders.path}?account_id=${accountId}`,
      `${getOrderOutcome.path}?account_id=${accountId}&client_order_id=${await place('1')}`,
    ];
    for (const target of targets) {
      const { status, text } = await scene.ask(target);
      assert.equal(status, 200, `${target}: ${text}`);
    }
    const made = await ask(stage, createWatchlist.path, JSON.stringify({ name: 'Of this test' }), {
      'idempotency-key': 'least-privilege',
    });
    assert.equal(made.status, 200, await made.text());
  }

  /** It is settled by a look-up, and the audit tells of it on the bus. */
  async function loseAnAnswer(): Promise<void> {
    scene.simulator.trading.showAfter(60_000);
    scene.simulator.bring(({ path }) => (path === orderPath ? { kind: 'drop-after' } : undefined));
    const id = await place('1');
    scene.simulator.bring();
    scene.simulator.trading.showAfter(0);
    await scene.pass(120_000);
    const isTold = async () =>
      (await scene.published(platformNames.ordersBus)).some(({ detail }) => detail.client_order_id === id);
    while (!(await isTold())) {
      await scene.settle();
      await pause(200);
    }
  }

  async function stopAndCancel(): Promise<void> {
    await place('1');
    const changes = {
      max_order_quantity: '50',
      actions: { max_order_quantity: 'block_and_cancel' },
    } as const;
    await scene.operator.apply({ action: 'limits', subject: { kind: 'gateway' }, changes });
    await scene.pass(6000);
    await place('51');
    await scene.cancelOpen();
    await scene.alarm();
    await scene.cancelOpen();
  }

  async function invokeDirectly(): Promise<void> {
    const lambda = new LambdaClient(clientConfig(stage.emulator));
    const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
    for (const [word, event] of [
      ['AccessToken', {}],
      ['directlookup', { operation: listAccounts.id, request_id: 'direct-account' }],
      ['directlookup', { symbols: ['MSFT'], category: 'US_STOCK', request_id: 'direct-quote' }],
    ] as const) {
      const { FunctionName } = Functions.find((one) => one.FunctionName?.includes(word)) ?? {};
      await lambda.send(new InvokeCommand({ FunctionName, Payload: Buffer.from(JSON.stringify(event)) }));
    }
    const sqs = new SQSClient(clientConfig(stage.emulator));
    const { LookupQueueUrl: QueueUrl, LookupDeadLettersUrl = '' } = stage.outputs;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'no json' }));
    while ((await drain(sqs, LookupDeadLettersUrl)).length === 0) await pause(200);
  }

  beforeAll(async () => {
    for (const { run } of smoke) {
      await run(scene);
      await leaveNothing(scene);
    }
    await loseAnAnswer();
    await readAll();
    await stopAndCancel();
    await invokeDirectly();
    rights = await rightsOf(stage);
  });

  const used = ({ role, policy, ...right }: Right) =>
    callsOf(stage).some(
      (call) => call.role === role && call.action === right.action && right.covers(call.resource),
    );
  const isSeen = ({ policy, action }: Right) =>
    !unseen.some(([name, actions]) => name === policy && actions.test(action));
  const told = ({ role, policy, action, resource }: Right) => `${role} ${policy} ${action} ${resource}`;

  test('no call is denied', () => {
    const calls = callsOf(stage);
    assert.ok(calls.length > 100, `${calls.length} calls`);
    assert.deepEqual(
      calls.filter(({ decision }) => decision !== 'Allow'),
      [],
    );
  });

  test('no function has a policy that it does not use', () => {
    const unused = rights.filter(
      (right) =>
        isSeen(right) &&
        !rights.some((one) => one.role === right.role && one.policy === right.policy && used(one)),
    );
    assert.deepEqual(unused.map(told), []);
  });

  test('no policy allows an action that nobody uses', () => {
    const unused = rights.filter(
      (right) =>
        isSeen(right) &&
        !rights.some(
          (one) =>
            one.policy === right.policy &&
            one.action === right.action &&
            one.resource === right.resource &&
            used(one),
        ),
    );
    assert.deepEqual(unused.map(told), []);
    const count = (some: readonly Right[]) => some.length;
    console.log(
      `${callsOf(stage).length} calls, 0 denied; of ${rights.length} rights ${count(rights.filter(used))} used by their function, ${count(rights.filter((one) => !isSeen(one)))} listed with a reason, 0 unused`,
    );
  });

  test('what is listed with a reason is there', () => {
    for (const [policy, actions, why] of unseen)
      assert.ok(
        rights.some((one) => one.policy === policy && actions.test(one.action)),
        `${policy}: ${why}`,
      );
  });
});
