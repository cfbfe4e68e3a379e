/** The audit over DynamoDB keeps the contract; its function takes the records of a stream; and what lies in its items. */

import assert from 'node:assert/strict';
import type { DynamoDBRecord, AttributeValue as StreamValue } from 'aws-lambda';
import { describe, test } from 'vitest';
import { createDynamoOrderAudit } from '../../../functions/aws/dynamo-order-audit.ts';
import { createDynamoOrderJournal } from '../../../functions/aws/dynamo-order-journal.ts';
import { orderAuditHandler } from '../../../functions/aws/order-audit.ts';
import { orderAuditPorts } from '../../../functions/aws/order-ports.ts';
import { orderAudit, start } from '../../../functions/compose/functions.ts';
import type { LogEntry } from '../../../functions/log/log.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { createOrderAudit, type OrderAuditStore } from '../../../lib/orders/audit.ts';
import { hostWith } from '../../support/deployed.ts';
import { each } from '../../support/each.ts';
import { type Item, textOfItems } from '../../world/dynamo.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { lineOf, linesIn, now, orderAuditContract } from '../audit.contract.ts';
import { counted, exposing } from '../counting-journal.contract.ts';
import { entryOf } from '../journal.contract.ts';
import { journalTable } from '../table.ts';

const identityOf = (letter: string) => createIdentity(async () => letter.repeat(32));

describe('DynamoDB', needsDynamo(), () => {
  const engine = dynamoEngine();
  const storeOf = (tableName: string, letter = 'k'): OrderAuditStore =>
    createDynamoOrderAudit({
      client: engine.client,
      tableName,
      sealer: identityOf(letter).sealer,
      // The emulator takes its time on a busy machine.
      timeoutMs: 60_000,
    });

  orderAuditContract('DynamoDB', async () => storeOf(await engine.table()));

  test('no item shows account, order or contents; another key reads the states alone', async () => {
    const tableName = await engine.table();
    await storeOf(tableName).append(lineOf());
    const items = await engine.items(tableName);
    const text = textOfItems(items);
    assert.ok(text.includes('keyed-user') && text.includes('placeOrder') && !text.includes('CANARY'), text);
    const { record: _, ...bare } = lineOf();
    assert.deepEqual(await linesIn(storeOf(tableName, 'o'), now, now + 1), [bare]);
  });

  async function journalOf(letter: string) {
    const tableName = await engine.table(...journalTable);
    const { sealer } = identityOf(letter);
    const journal = createDynamoOrderJournal({
      client: engine.client,
      tableName,
      sealer,
      timeoutMs: 60_000,
    });
    return { journal, items: () => engine.items(tableName) };
  }

  /** Two writes of the journal, as records of its table's stream. */
  async function streamed(letter = 'k'): Promise<readonly DynamoDBRecord[]> {
    const { journal, items } = await journalOf(letter);
    const entry = entryOf('streamed', { record: JSON.stringify(lineOf().record) });
    await journal.begin([entry], now);
    const [before] = await items();
    const { key, attempt, record } = entry;
    await journal.finish({ key, attempt, state: 'accepted', record });
    const [after] = await items();
    return [recordOf(1, undefined, before), recordOf(2, before, after)];
  }

  function handlerOf(store: OrderAuditStore) {
    const log: LogEntry[] = [];
    const identity = identityOf('k');
    const bus = { publish: async (events: readonly unknown[]) => events.map(() => true) };
    const audit = createOrderAudit({ store, bus, names: identity.names, reportFailure: () => {} });
    const handler = orderAuditHandler({ audit, identity }, (entry) => void log.push(entry));
    return { handler, log };
  }

  test('records of the stream become lines, once each', async () => {
    const store = storeOf(await engine.table());
    const { handler, log } = handlerOf(store);
    const Records = [...(await streamed())];
    assert.deepEqual(await handler({ Records }), { batchItemFailures: [] });
    assert.deepEqual(await handler({ Records }), { batchItemFailures: [] });
    const lines = await linesIn(store, now, now + 60_000);
    assert.deepEqual(each(lines, 'before', 'after', 'at'), [
      [undefined, 'pending', now - (now % 1000) + 1000],
      ['pending', 'accepted', now - (now % 1000) + 2000],
    ]);
    assert.deepEqual(lines[1]?.record, lineOf().record);
    assert.deepEqual(each(log, 'added', 'repeated', 'failed'), [
      [2, 0, 0],
      [0, 2, 0],
    ]);
    assert.ok(!JSON.stringify(log).includes('CANARY'));
  });

  test('counters and what they have of an entry are no lines, and nothing of them comes again', async () => {
    const store = storeOf(await engine.table());
    const { handler, log } = handlerOf(store);
    const { journal, items } = await journalOf('k');
    const itemOf = async (key: string) => (await items()).find(({ pk }) => pk?.S === key);
    const entry = entryOf('streamed', { record: JSON.stringify(lineOf().record), exposure: 'one' });
    await journal.beginCounted([entry], now, counted('counter', 0, 'one'));
    const [begun, first] = [await itemOf('streamed'), await itemOf('counter')];
    const { exposures } = exposing({ key: 'streamed', before: 'one', next: 'two' });
    await journal.change({ ...counted('counter', 1, 'two'), exposures });
    const [wider, second] = [await itemOf('streamed'), await itemOf('counter')];
    await journal.change(exposing({ key: 'streamed', before: 'two', next: undefined }));
    const released = await itemOf('streamed');
    const Records = [
      recordOf(1, undefined, begun),
      recordOf(2, undefined, first),
      recordOf(3, begun, wider),
      recordOf(4, first, second),
      recordOf(5, wider, released),
      recordOf(6, second, undefined),
    ];
    assert.deepEqual(await handler({ Records }), { batchItemFailures: [] });
    const lines = await linesIn(store, now, now + 60_000);
    assert.deepEqual(each(lines, 'sequence', 'after'), [['1', 'pending']]);
    assert.deepEqual([log.at(-1)?.level, log.at(-1)?.added], ['info', 1]);
  });

  test('an entry of which more changes than what is counted is a line, also without its attempt', async () => {
    const store = storeOf(await engine.table());
    const { handler } = handlerOf(store);
    const [record] = await streamed();
    const item = record?.dynamodb?.NewImage ?? {};
    const { attempt: _, ...bare } = item;
    const counts = { exposure: { S: 'one' }, exposed: { S: 'credential' } };
    const changed = (sequence: number, OldImage: typeof item, NewImage: typeof item) => ({
      eventName: 'MODIFY' as const,
      dynamodb: { ...record?.dynamodb, SequenceNumber: `${sequence}`, OldImage, NewImage },
    });
    const Records = [
      changed(1, item, { ...item, ...counts, state: { S: 'refused' } }),
      changed(2, { ...item, ...counts }, bare),
      changed(3, bare, item),
    ];
    assert.deepEqual(await handler({ Records }), { batchItemFailures: [] });
    const lines = await linesIn(store, now, now + 60_000);
    assert.deepEqual(lines.map(({ sequence }) => sequence).toSorted(), ['1', '2', '3']);
  });

  test('of a batch, only what the store did not take comes again', async () => {
    const store = storeOf(await engine.table());
    const { handler, log } = handlerOf({
      ...store,
      append: (line) => (line.after === 'accepted' ? Promise.reject(new Error('away')) : store.append(line)),
    });
    const Records = [...(await streamed())];
    assert.deepEqual(await handler({ Records }), { batchItemFailures: [{ itemIdentifier: '2' }] });
    assert.equal(log.at(-1)?.level, 'error');
    assert.equal((await linesIn(store, now, now + 60_000)).length, 1);
  });

  test('an entry of another identity key has lines without contents, and holds nothing up', async () => {
    const store = storeOf(await engine.table());
    const { handler, log } = handlerOf(store);
    assert.deepEqual(await handler({ Records: [...(await streamed('o'))] }), { batchItemFailures: [] });
    const lines = await linesIn(store, now, now + 60_000);
    assert.deepEqual(each(lines, 'after', 'record'), [
      ['pending', undefined],
      ['accepted', undefined],
    ]);
    assert.deepEqual([log.at(-1)?.level, log.at(-1)?.unreadable], ['error', 2]);
  });

  test('while the identity key cannot be read, everything comes again', async () => {
    const store = storeOf(await engine.table());
    const { names } = identityOf('k');
    const identity = createIdentity(() => Promise.reject(new Error('away')));
    const bus = { publish: async () => [] };
    const audit = createOrderAudit({ store, bus, names, reportFailure: () => {} });
    const handler = orderAuditHandler({ audit, identity }, () => {});
    const { batchItemFailures } = await handler({ Records: [...(await streamed())] });
    assert.deepEqual(batchItemFailures, [{ itemIdentifier: '1' }, { itemIdentifier: '2' }]);
    assert.deepEqual(await linesIn(store, now, now + 60_000), []);
  });
});

test('a function without its variables names them, and fails each batch', async () => {
  const log: LogEntry[] = [];
  const host = hostWith((entry) => log.push(entry));
  const handler = orderAuditHandler(start(orderAudit, {}, orderAuditPorts(host)), host.log);
  await assert.rejects(handler({ Records: [] }), /wrong_configuration/);
  assert.match(JSON.stringify(log), /ORDER_AUDIT: not set.*IDENTITY: not set/);
});

/** As Lambda hands it over: bytes as Base64, times in whole seconds. */
const recordOf = (sequence: number, before: Item | undefined, after: Item | undefined): DynamoDBRecord => ({
  eventName: before ? 'MODIFY' : 'INSERT',
  dynamodb: {
    SequenceNumber: String(sequence),
    ApproximateCreationDateTime: Math.floor(now / 1000) + sequence,
    ...(before && { OldImage: imageOf(before) }),
    ...(after && { NewImage: imageOf(after) }),
  },
});

const imageOf = (item: Item): Record<string, StreamValue> =>
  JSON.parse(
    JSON.stringify(item, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    ),
  );
