/** The journal over DynamoDB keeps the contract; besides, what lies in its items, and what a table in trouble means. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { createDynamoClient, type DynamoSender } from '../../../functions/aws/dynamo-client.ts';
import { DynamoError } from '../../../functions/aws/dynamo-http.ts';
import { createDynamoOrderJournal } from '../../../functions/aws/dynamo-order-journal.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { StoreThrottled } from '../../../lib/limiter/store-throttled.ts';
import {
  type CountingJournal,
  createMemoryOrderJournal,
  JournalUnavailable,
} from '../../../lib/orders/index.ts';
import { closedPort } from '../../support/closed-port.ts';
import { accountId, ask, orderBody, orderPath } from '../../support/core.ts';
import { startInstances } from '../../support/instances.ts';
import { bytesOf, textOfItems } from '../../world/dynamo.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { counted, countingJournalContract, exposing } from '../counting-journal.contract.ts';
import { entryOf, orderJournalContract, unlisted } from '../journal.contract.ts';
import { playedOnBoth } from '../journal-plays.ts';
import { journalTable } from '../table.ts';

const sealerOf = (letter: string) => createIdentity(async () => letter.repeat(32)).sealer;
const now = Date.UTC(2036, 0, 1);

describe('DynamoDB', needsDynamo(), () => {
  const engine = dynamoEngine();
  const table = () => engine.table(...journalTable);
  const journalOf = (tableName: string, { client = engine.client, key = 'k' } = {}): CountingJournal =>
    createDynamoOrderJournal({
      client,
      tableName,
      sealer: sealerOf(key),
      // The emulator takes its time on a busy machine.
      timeoutMs: 60_000,
    });

  orderJournalContract('DynamoDB', async () => journalOf(await table()));
  countingJournalContract('DynamoDB', async () => journalOf(await table()));

  test('no item shows account, order or body, and none opens with another key', async (t) => {
    const tableName = await table();
    const { gateway } = await startInstances(t, 1, { journal: journalOf(tableName) });
    const id = 'canary-order-4711';
    const placed = await ask(gateway, orderPath, { body: orderBody({ client_order_id: id }) });
    assert.equal(placed.status, 200, placed.text);
    const items = await engine.items(tableName);
    const [item] = items;
    assert.equal(items.length, 1);
    assert.equal(item?.state?.S, 'accepted');
    // The cost page counts one unit for each write of an entry.
    assert.ok(bytesOf(item ?? {}) <= 1024, `${bytesOf(item ?? {})}`);
    const text = textOfItems(items);
    assert.ok(text.length > 300);
    for (const word of [
      accountId,
      id,
      'canary',
      'AAPL',
      'limit_price',
      'placeOrder',
      JSON.parse(placed.text).order_id,
    ])
      assert.ok(!text.includes(word), word);
    const other = journalOf(tableName, { key: 'o' });
    await assert.rejects(other.read([item?.pk?.S ?? '']), JournalUnavailable);
  });

  test('an unsettled entry of another identity key does not hide the others', async () => {
    const tableName = await table();
    const [mine, another] = ['k', 'o'].map((key) => journalOf(tableName, { key }));
    await another!.begin([entryOf('sealed-elsewhere')], now);
    const readable = entryOf('sealed-here');
    await mine!.begin([readable], now);
    const [first, second] = await mine!.unsettled('placements', '-', 10);
    assert.deepEqual([first?.key, first?.record], ['sealed-elsewhere', '']);
    assert.deepEqual(second, readable);
  });

  test('a seal opens in its own entry alone', async () => {
    const tableName = await table();
    const journal = journalOf(tableName);
    await journal.begin([entryOf('one')], now);
    await journal.begin([entryOf('other')], now);
    const [item] = (await engine.items(tableName)).filter(({ pk }) => pk?.S === 'one');
    await engine.client.send('UpdateItem', {
      TableName: tableName,
      Key: { pk: { S: 'other' } },
      UpdateExpression: 'SET sealed = :sealed',
      ExpressionAttributeValues: { ':sealed': item?.sealed ?? { S: '' } },
    });
    await assert.rejects(journal.read(['other']), JournalUnavailable);
  });

  test('only what expires has a time to live, and only what is unsettled is in the index', async () => {
    const tableName = await table();
    const journal = journalOf(tableName);
    const [order, change] = [entryOf('order'), unlisted('change', { expiresAt: now + 1 })];
    await journal.begin([order, change], now);
    const attributes = async (key: string) => {
      const items = await engine.items(tableName);
      return Object.keys(items.find(({ pk }) => pk?.S === key) ?? {}).toSorted();
    };
    const always = ['at', 'attempt', 'credential', 'hash', 'pk', 'sealed', 'send_by', 'state'];
    assert.deepEqual(await attributes('order'), [...always, 'listed_as', 'unsettled'].toSorted());
    assert.deepEqual(await attributes('change'), [...always, 'expires_at', 'known_until'].toSorted());
    await journal.finish({ ...order, state: 'unknown' });
    assert.ok((await attributes('order')).includes('unsettled'));
    await journal.finish({ ...order, state: 'refused' });
    assert.ok(!(await attributes('order')).includes('unsettled'));
  });

  test('does as the journal in memory does, whatever comes one after the other', async () => {
    const journal = journalOf(await table());
    await fc.assert(
      fc.asyncProperty(playedOnBoth, async (play) => play(journal, createMemoryOrderJournal())),
      { numRuns: 40 },
    );
  });

  test('what is counted is in the second index, and has no time to live', async () => {
    const tableName = await table();
    const journal = journalOf(tableName);
    const entry = unlisted('order', { exposure: 'one', expiresAt: now + 1 });
    await journal.beginCounted([entry], now, counted('counter', 0, 'one'));
    const items = async () => new Map((await engine.items(tableName)).map((item) => [item.pk?.S, item]));
    const { order, counter } = Object.fromEntries(await items());
    assert.deepEqual([order?.exposed?.S, order?.expires_at], ['orders', undefined]);
    assert.deepEqual(counter, { pk: { S: 'counter' }, revision: { N: '1' }, state: { S: 'one' } });
    await journal.change(exposing({ key: 'order', before: 'one', next: undefined }));
    const { order: bare = {} } = Object.fromEntries(await items());
    assert.deepEqual([bare.exposure, bare.exposed], [undefined, undefined]);
  });

  /** A client whose first transactions meet others at an item. */
  function meeting(conflicts: number, name: string) {
    const tokens: unknown[] = [];
    const client: DynamoSender = {
      async send(operation, input) {
        const token = 'ClientRequestToken' in input ? input.ClientRequestToken : undefined;
        if (token !== undefined && tokens.push(token) <= conflicts)
          throw Object.assign(new Error(name), {
            name,
            $fault: 'client',
            CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
          });
        return engine.client.send(operation, input);
      },
    };
    return { client, tokens };
  }

  for (const name of ['TransactionCanceledException', 'TransactionInProgressException'])
    test(`${name}: a transaction waits for others at the same item, and is written once`, async () => {
      const tableName = await table();
      const { client, tokens } = meeting(12, name);
      const journal = createDynamoOrderJournal({
        client,
        tableName,
        sealer: sealerOf('k'),
        timeoutMs: 60_000,
      });
      assert.equal(await journal.beginCounted([entryOf('one')], now, counted('counter', 0, 'one')), 'begun');
      assert.deepEqual([tokens.length, new Set(tokens).size], [13, 1]);
      assert.deepEqual(await journal.counters(['counter']), [{ key: 'counter', revision: 1, state: 'one' }]);
    });

  test('a conflict that persists is an unavailable journal, and nothing is written', async () => {
    const tableName = await table();
    const { client } = meeting(Number.POSITIVE_INFINITY, 'TransactionCanceledException');
    const journal = createDynamoOrderJournal({ client, tableName, sealer: sealerOf('k') });
    await assert.rejects(
      journal.beginCounted([entryOf('one')], now, counted('counter', 0, 'one')),
      JournalUnavailable,
    );
    await assert.rejects(journal.change(counted('counter', 0, 'one')), JournalUnavailable);
    assert.deepEqual(await engine.items(tableName), []);
  });

  /** A client that is throttled in a share of its requests, by chance. */
  const throttledIn = (share: number): DynamoSender => ({
    async send(operation, input) {
      if (Math.random() < share)
        throw new DynamoError(400, { __type: 'x#ProvisionedThroughputExceededException' });
      return engine.client.send(operation, input);
    },
  });

  test('a throttled table is an unavailable journal; one that throttles now and then is not', async () => {
    const tableName = await table();
    const throttled = journalOf(tableName, { client: throttledIn(1) });
    const sometimes = journalOf(tableName, { client: throttledIn(0.3) });
    const isUnavailable = (error: unknown) =>
      error instanceof JournalUnavailable && error.cause instanceof StoreThrottled;
    const entry = entryOf('throttled');
    await assert.rejects(throttled.begin([entry], now), isUnavailable);
    await assert.rejects(throttled.begin([entry, entryOf('another')], now), isUnavailable);
    await assert.rejects(throttled.finish({ ...entry, state: 'accepted' }), isUnavailable);
    await assert.rejects(throttled.read(['throttled']), isUnavailable);
    await assert.rejects(throttled.unsettled('placements', '-', 1), isUnavailable);
    await assert.rejects(throttled.exposed('-', 1), isUnavailable);
    await assert.rejects(throttled.counters(['counter']), isUnavailable);
    await assert.rejects(throttled.change(counted('counter', 0, 'one')), isUnavailable);
    await assert.rejects(throttled.beginCounted([entry], now, counted('counter', 0, 'one')), isUnavailable);
    let begun = 0;
    for (let index = 0; index < 50; index++)
      await sometimes.begin([entryOf(`sometimes-${index}`)], now).then(
        () => begun++,
        (error) => assert.ok(isUnavailable(error)),
      );
    // Four throttled attempts in a row are 0.8 % of all.
    assert.ok(begun >= 40, `${begun}`);
  });

  test('a table that cannot be reached, or hangs, is an unavailable journal', async () => {
    const client = createDynamoClient(`http://127.0.0.1:${await closedPort()}`);
    await assert.rejects(journalOf('any', { client }).begin([entryOf('away')], now), JournalUnavailable);
    const hanging = createDynamoOrderJournal({
      client: { send: () => new Promise(() => {}) },
      tableName: 'any',
      sealer: sealerOf('k'),
    });
    await assert.rejects(hanging.begin([entryOf('hangs')], now), JournalUnavailable);
    await assert.rejects(hanging.finish({ ...entryOf('hangs'), state: 'accepted' }), JournalUnavailable);
  });

  test('writes whose answers are lost count once: the attempt is begun, the outcome is written', async () => {
    const tableName = await table();
    let sent = 0;
    /** Of each operation the first. */
    const client: DynamoSender = {
      async send(operation, input) {
        const isLost = sent++ % 2 === 0;
        const answer = await engine.client.send(operation, input);
        if (isLost) throw new Error('the connection broke');
        return answer;
      },
    };
    const sealer = sealerOf('k');
    const journal = createDynamoOrderJournal({
      client,
      tableName,
      sealer,
      timeoutMs: 60_000,
    });
    const [one, two, three] = ['lost-1', 'lost-2', 'lost-3'].map((key) => entryOf(key));
    assert.equal(await journal.begin([one!], now), 'begun');
    assert.equal(await journal.begin([two!, three!], now), 'begun');
    assert.equal(await journal.finish({ ...one!, state: 'accepted' }), true);
    assert.equal(sent, 6);
    assert.equal(await journal.finish({ ...one!, state: 'accepted' }), false);
    sent = 0;
    const four = entryOf('lost-4', { exposure: 'one' });
    assert.equal(await journal.beginCounted([four], now, counted('counter', 0, 'one')), 'begun');
    const { exposures } = exposing({ key: four.key, before: 'one', next: undefined });
    assert.equal(await journal.change({ ...counted('counter', 1, 'two'), exposures }), 'changed');
    assert.equal(sent, 4);
    const [counter] = await journalOf(tableName).counters(['counter']);
    assert.deepEqual(counter, { key: 'counter', revision: 2, state: 'two' });
  });

  test('the largest body that an order may have fits an item; an entry that does not is not begun', async (t) => {
    const journal = journalOf(await table());
    const { gateway } = await startInstances(t, 1, { journal });
    // No compression makes it shorter than three quarters.
    const noise = (bytes: number) =>
      Array.from({ length: bytes / 64 }, () =>
        Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString('base64'),
      ).join('');
    const body = orderBody({ client_order_id: 'order-that-is-large', position_id: noise(126 * 1024) });
    const large = await ask(gateway, orderPath, { body });
    assert.equal(large.status, 200, large.text);
    const larger = entryOf('larger', { record: JSON.stringify({ operation: 'x', noise: noise(900_000) }) });
    await assert.rejects(journal.begin([larger], now), JournalUnavailable);
  });
});
