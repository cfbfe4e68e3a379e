/** A deployed stage as a scenario sees it: the emulator's API, functions, buses and tables, with roles enforced. */

import assert from 'node:assert/strict';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { createDynamoCheckpoints } from '../../functions/aws/dynamo-checkpoints.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoOrderAudit } from '../../functions/aws/dynamo-order-audit.ts';
import { orderStreamPorts } from '../../functions/aws/order-ports.ts';
import { streamPorts } from '../../functions/aws/ports.ts';
import { orderStreams, quoteStreams, start } from '../../functions/compose/functions.ts';
import { workerRows } from '../../functions/rows.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { confirmTables } from '../../lib/guard-rails/admin.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import { whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { tradeEventNames } from '../../lib/trade-events/index.ts';
import { signedByAws } from '../emulator/aws-signature.ts';
import { clientConfig } from '../emulator/deployment.ts';
import {
  emulatorIdentity,
  grantEverything,
  identityKeyOf,
  operatorOf,
  tradingOperatorOf,
} from '../emulator/operator.ts';
import { collectReplies } from '../emulator/replies.ts';
import type { Stage } from '../emulator/stage.ts';
import { copyOfTable, itemsOf } from '../world/dynamo.ts';
import { alarmEvent, platformNames, requester, type Scene, streamsOf } from './scene.ts';

export async function stageScene(stage: Stage): Promise<Scene> {
  const { emulator, outputs, simulator } = stage;
  const config = clientConfig(emulator);
  const dynamo = new DynamoDBClient(config);
  const lambda = new LambdaClient(config);
  await grantEverything(stage);
  await (await operatorOf(stage)).apply({
    action: 'grant',
    subject: { kind: 'source', name: requester },
    accounts: ['*'],
    userData: true,
    scopes: ['read'],
  });
  const identity = createIdentity(() => identityKeyOf(stage));
  const operator = await tradingOperatorOf(stage);
  const tables = {
    journal: outputs.OrderJournalTable ?? '',
    controls: outputs.TradingControlsTable ?? '',
    users: outputs.AccessTable ?? '',
  };
  const busNames = new Map([
    [platformNames.lookupBus, outputs.LookupBus],
    [platformNames.eventsBus, outputs.TradeEventsBus],
    [platformNames.ordersBus, outputs.OrdersBus],
  ]);
  const replies = new Map(
    await Promise.all(
      [...busNames].map(
        async ([name, LookupBus]) =>
          [name, await collectReplies({ emulator, outputs: { LookupBus } }, {}, name)] as const,
      ),
    ),
  );

  async function invoke<T>(FunctionName: string | undefined, event: object = {}): Promise<T> {
    const Payload = Buffer.from(JSON.stringify(event));
    const result = await lambda.send(new InvokeCommand({ FunctionName, Payload }));
    const text = Buffer.from(result.Payload ?? []).toString();
    assert.equal(result.FunctionError, undefined, text);
    return JSON.parse(text) as T;
  }

  /** The emulator has no streams of answers: the functions run here, with the variables and over the tables of those deployed. */
  const follow: Scene['follow'] = async (...asked) => {
    const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
    const variablesOf = (word: string) =>
      Functions.find(({ FunctionName = '' }) => FunctionName.includes(word))?.Environment?.Variables ?? {};
    const host = { functionName: 'a-function', log: () => {}, clock: Date.now, sleep };
    return streamsOf(
      start(orderStreams, variablesOf('orderstreams'), orderStreamPorts(host)),
      start(quoteStreams, variablesOf('quotestreams'), streamPorts(host)),
      'arn' in emulatorIdentity ? emulatorIdentity.arn : undefined,
    )(...asked);
  };

  /** By the title of its row, with which its description begins. */
  const work: Scene['work'] = async (name, event) => {
    const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
    const found = Functions.find(({ Description = '' }) =>
      Description.startsWith(`${workerRows[name].title}:`),
    );
    return invoke(found?.FunctionName, event);
  };

  const published: Scene['published'] = async (name) => {
    await replies.get(name)?.read();
    return (replies.get(name)?.events ?? []).map(({ 'detail-type': type, detail }) => ({ type, detail }));
  };

  return {
    simulator,
    logged: [],
    follow,
    published,
    operator,
    async ask(target, body) {
      const init = body
        ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
        : { method: 'GET', headers: {} };
      const headers = await signedByAws(stage, target, init);
      const response = await fetch(`${stage.url}${target}`, {
        ...init,
        headers: { 'x-api-key': stage.apiKey, ...headers },
      });
      return {
        status: response.status,
        text: await response.text(),
        headers: Object.fromEntries(response.headers),
      };
    },
    work,
    settle: () => invoke(outputs.OrderSettlementFunction),
    settleBy: async (detail) =>
      void (await invoke(outputs.OrderSettlementFunction, { 'detail-type': tradeEventNames.order, detail })),
    cancelOpen: () => invoke(outputs.MassCancelFunction),
    // Without waiting for its end, which is a quarter of an hour away.
    async listen(isSo) {
      const FunctionName = outputs.TradeEventsFunction;
      await lambda.send(new InvokeCommand({ FunctionName, InvocationType: 'Event' }));
      while (!(await isSo())) await sleep(200);
    },
    async lookUp(detailType, detail, source = requester) {
      const { request_id: id } = detail as { readonly request_id?: string };
      const Detail = JSON.stringify(detail);
      const entry = { EventBusName: outputs.LookupBus, Source: source, DetailType: detailType, Detail };
      await new EventBridgeClient(config).send(new PutEventsCommand({ Entries: [entry] }));
      for (;;) {
        const reply = (await published(platformNames.lookupBus)).find((one) => one.detail.request_id === id);
        if (reply) return reply.detail;
        await sleep(200);
      }
    },
    copyOf: (table) => copyOfTable(emulator.endpoint, tables[table]),
    async confirm(taken) {
      const checkpoints = createDynamoCheckpoints({ client: createDynamoClient(emulator.endpoint), tables });
      await confirmTables({ admin: operator, checkpoints, tables, clock: Date.now }, taken, 'scenario');
    },
    alarm: async () => void (await invoke(outputs.TradingStopFunctionArn, alarmEvent)),
    async audited() {
      const tableName = outputs.OrderAuditTable ?? '';
      const store = createDynamoOrderAudit({ client: dynamo, tableName, sealer: identity.sealer });
      return (await whoOrderedWhat(store.read(Date.now() - 3_600_000, Date.now() + 3_600_000))).ordered;
    },
    hold: () => false,
    // What a function knows of a stop ages by itself; the journal’s entries are made older.
    async pass(ms) {
      if (ms < 10_000) return sleep(ms);
      const TableName = outputs.OrderJournalTable ?? '';
      for (const { pk = { S: '' }, attempt } of await itemsOf(emulator.endpoint, TableName))
        if (attempt)
          await dynamo.send(
            new UpdateItemCommand({
              TableName,
              Key: { pk },
              UpdateExpression: 'ADD #at :ms',
              ExpressionAttributeNames: { '#at': 'at' },
              ExpressionAttributeValues: { ':ms': { N: String(-ms) } },
            }),
          );
    },
    close: async () => {},
  };
}
