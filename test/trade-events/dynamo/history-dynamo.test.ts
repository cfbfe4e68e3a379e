/** The history of trade events on DynamoDB keeps the contract; besides, what lies in its items. */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { createDynamoEventHistory } from '../../../functions/aws/dynamo-event-history.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { keptMs, placeAt, toldMs } from '../../../lib/trade-events/history.ts';
import { textOfItems } from '../../world/dynamo.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { eventHistoryContract, placed } from '../history.contract.ts';

describe('DynamoDB', needsDynamo(), () => {
  let tableName: string;
  const engine = dynamoEngine();
  beforeAll(async () => {
    tableName = await engine.table();
  });
  const historyOf = (key = 'k') =>
    createDynamoEventHistory({
      client: engine.client,
      tableName,
      sealer: createIdentity(async () => key.repeat(32)).sealer,
      timeoutMs: 10_000,
    });

  eventHistoryContract('DynamoDB', historyOf);

  test('what an event says is sealed for its own name and place, and goes when it can be told no more', async () => {
    const name = 'sealed'.padEnd(22, 'x');
    await historyOf().append([name], placed(1, 'one'));
    const [item] = (await engine.items(tableName)).filter(({ pk }) => pk?.S === name);
    assert.ok(!textOfItems([item ?? {}]).includes('1234567'));
    const endsAt = Number(item?.expires_at?.N) * 1000;
    assert.ok(endsAt > Date.now() + toldMs && endsAt <= Date.now() + keptMs + 1000);
    await assert.rejects(historyOf('o').after(name, placeAt(0), 1), /does not open/);
  });

  test('more than DynamoDB gives in one page comes whole', async () => {
    const name = 'large'.padEnd(22, 'x');
    const history = historyOf();
    const events = Array.from({ length: 8 }, (_, index) => ({
      ...placed(index, `large${index}`),
      detail: `{"account_id":"1","order":"${'x'.repeat(240 * 1024)}"}`,
    }));
    for (const event of events) await history.append([name], event);
    const read = await history.after(name, placeAt(0), 100);
    assert.deepEqual(
      read.map(({ place }) => place),
      events.map(({ place }) => place),
    );
  });
});
