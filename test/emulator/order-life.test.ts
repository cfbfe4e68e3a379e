/** What open orders come to, deployed, with roles enforced: an order that has ended leaves the counter. */

import assert from 'node:assert/strict';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { cancelOrder } from '../../lib/catalogue/index.ts';
import type { SettlementReport } from '../../lib/orders/settle.ts';
import { itemsOf } from '../orders/table.ts';
import { accountId, orderBody, orderPath } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { signedByAws } from './aws-signature.ts';
import { clientConfig } from './deployment.ts';
import { grantEverything } from './operator.ts';
import { putSecret } from './secret.ts';
import { type Stage, startStage } from './stage.ts';

describe('the life of an order on the emulator', needsEmulator(), () => {
  let stage: Stage;
  const before = { ...process.env };

  beforeAll(async () => {
    // Roles are enforced over TLS only; the certificate is made by the emulator at its start.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    stage = await startStage({
      env: { AUTH: 'true', USE_SSL: '1' },
      props: { groups: { orders: 'iam' }, trading: { limits: { max_open_notional: '1000' } } },
    });
    await putSecret(stage);
    await grantEverything(stage);
  });
  afterAll(async () => {
    await stage?.stop();
    process.env = before;
  });

  async function post(path: string, body: string) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const headers = await signedByAws(stage, path, init);
    const response = await fetch(`${stage.url}${path}`, { ...init, headers });
    return { status: response.status, body: (await response.json()) as { readonly code?: string } };
  }
  const place = (id: string) =>
    post(
      orderPath,
      orderBody({ client_order_id: id, order_type: 'LIMIT', limit_price: '9.90', quantity: '100' }),
    );

  async function settle(): Promise<SettlementReport> {
    const client = new LambdaClient(clientConfig(stage.emulator));
    const command = new InvokeCommand({ FunctionName: stage.outputs.OrderSettlementFunction });
    const { FunctionError, Payload } = await client.send(command);
    const text = Buffer.from(Payload ?? []).toString();
    assert.equal(FunctionError, undefined, text);
    return JSON.parse(text);
  }

  test('an order that was cancelled leaves the open notional, and the next one is placed', async () => {
    const first = await place('order-life-1');
    assert.equal(first.status, 200, JSON.stringify(first.body));
    const blocked = await place('order-life-2');
    assert.deepEqual([blocked.status, blocked.body.code], [403, 'order_blocked']);
    const cancelled = await post(
      cancelOrder.path,
      JSON.stringify({ account_id: accountId, client_order_id: 'order-life-1' }),
    );
    assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    // A list of open orders lags behind: an order counts for half a minute at least.
    await backInTime(stage, 60_000);
    assert.equal((await settle()).released, 1);
    const next = await place('order-life-2');
    assert.equal(next.status, 200, JSON.stringify(next.body));
  });
});

/** Each entry, as if it had been begun earlier. */
async function backInTime({ emulator, outputs }: Stage, ms: number): Promise<void> {
  const client = new DynamoDBClient(clientConfig(emulator));
  const TableName = outputs.OrderJournalTable ?? '';
  for (const { pk = { S: '' }, attempt } of await itemsOf(emulator.endpoint, TableName))
    if (attempt)
      await client.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk },
          UpdateExpression: 'ADD #at :ms',
          ExpressionAttributeNames: { '#at': 'at' },
          ExpressionAttributeValues: { ':ms': { N: String(-ms) } },
        }),
      );
}
