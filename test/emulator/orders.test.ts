/** Orders of a deployed gateway: each leaves an entry in the journal, comes to the upstream once, or not without the journal. */

import assert from 'node:assert/strict';
import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  paginateDescribeLogGroups,
} from '@aws-sdk/client-cloudwatch-logs';
import { DeleteTableCommand, DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, test } from 'vitest';
import { cancelOrder } from '../../lib/catalogue/index.ts';
import { accountId, orderBody, orderPath } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { itemsOf, textOfItems } from '../world/dynamo.ts';
import { ask, deployedStage } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import type { Stage } from './stage.ts';

describe('orders on the emulator', needsEmulator(), () => {
  const origin = 'https://app.example';
  let tableName: string;
  const stage = deployedStage({
    granted: true,
    props: { groups: { orders: 'iam' }, cors: { origins: [origin] } },
    prepare({ outputs }) {
      tableName = outputs.OrderJournalTable ?? '';
    },
  });

  const post = (path: string, body: string) => ask(stage, path, body, { origin });
  const place = (id: string, more = {}) =>
    post(orderPath, orderBody({ client_order_id: id, order_type: 'LIMIT', limit_price: '1.10', ...more }));
  const sent = () => stage.simulator.received.filter(({ method }) => method === 'POST').length;

  test('an order leaves an accepted entry, in which account and order are sealed', async () => {
    const placed = await place('canary-order-1');
    const text = await placed.text();
    assert.equal(placed.status, 200, text);
    assert.equal(placed.headers.get('idempotent-replayed'), null);
    const items = await itemsOf(stage.emulator.endpoint, tableName);
    assert.deepEqual(
      items.map(({ state, unsettled, expires_at }) => [state?.S, unsettled, expires_at]),
      [['accepted', undefined, undefined]],
    );
    const found = [accountId, 'canary', JSON.parse(text).order_id, 'AAPL'].filter((word) =>
      textOfItems(items).includes(word),
    );
    assert.deepEqual(found, []);
  });

  test('sent again it is answered with the same bytes, which a script may tell, and not sent', async () => {
    const before = sent();
    const first = await place('order-sent-again');
    const again = await place('order-sent-again');
    assert.equal(again.status, 200);
    assert.equal(await again.text(), await first.text());
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.match(again.headers.get('access-control-expose-headers') ?? '', /idempotent-replayed/);
    const other = await place('order-sent-again', { quantity: '7' });
    assert.equal(other.status, 409, await other.text());
    assert.equal(sent(), before + 1);
  });

  test('twenty equal ones at once place one', async () => {
    const before = sent();
    // On a busy machine the table answers one of them too late: nothing was sent for it, and it comes again.
    const placeAgain = async (tries = 5): Promise<Response> => {
      const reply = await place('order-at-once');
      return reply.status === 503 && tries > 1 ? placeAgain(tries - 1) : reply;
    };
    const replies = await Promise.all(Array.from({ length: 20 }, () => placeAgain()));
    const texts = await Promise.all(replies.map((reply) => reply.text()));
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200], texts.join());
    assert.equal(new Set(texts).size, 1);
    assert.equal(sent(), before + 1);
  });

  test('without the table no order is sent, and a cancel is', async () => {
    assert.equal((await place('order-to-cancel')).status, 200);
    const client = new DynamoDBClient(clientConfig(stage.emulator));
    await client.send(new UpdateTableCommand({ TableName: tableName, DeletionProtectionEnabled: false }));
    await client.send(new DeleteTableCommand({ TableName: tableName }));
    const before = sent();
    const refused = await place('order-without-journal');
    assert.equal(refused.status, 503);
    assert.equal(((await refused.json()) as { code: string }).code, 'journal_unavailable');
    assert.equal(sent(), before);
    const cancelled = await post(
      cancelOrder.path,
      JSON.stringify({ account_id: accountId, client_order_id: 'order-to-cancel' }),
    );
    assert.equal(cancelled.status, 200, await cancelled.text());
    assert.equal(sent(), before + 1);
    const lines = await linesOf(stage);
    assert.match(lines, /"event":"journal_failed","step":"begin"/);
    assert.match(lines, /"OrderJournalFailed":1/);
    for (const word of [accountId, 'canary-order', 'order-to-cancel']) assert.ok(!lines.includes(word), word);
  });
});

/** What the functions wrote. */
async function linesOf({ emulator }: Stage): Promise<string> {
  const client = new CloudWatchLogsClient(clientConfig(emulator));
  const texts: string[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, {}))
    for (const { logGroupName = '' } of logGroups) {
      const { events = [] } = await client.send(new FilterLogEventsCommand({ logGroupName }));
      texts.push(...events.map(({ message = '' }) => message));
    }
  return texts.join('\n');
}
