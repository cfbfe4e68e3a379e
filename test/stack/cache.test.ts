/** The table of shared answers, and which function may do what in it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createDynamoResponseStore, responsePartitions } from '../../functions/aws/dynamo-response-store.ts';
import { functionsOf } from '../../functions/rows.ts';
import {
  directoryActions,
  endingActions,
  responseActions,
  snapshotActions,
} from '../../infra/stack/cache.ts';
import { getStockSnapshots, openable, placeOrder } from '../../lib/catalogue/index.ts';
import { calledBy, codeOf } from './called-by.ts';
import { idOf, policiesOf, settingsOf, synthesise, twoKeys } from './synthesise.ts';

const accounts = { accounts: 'iam', orders: 'iam', watchlists: 'iam' } as const;
const everything = synthesise({
  groups: accounts,
  tradeEvents: {},
  live: { maxStreams: 5, maxOrderStreams: 5 },
});

test('the table: two keys, on demand, expiring, and gone with the stack', () => {
  for (const onRemoval of ['destroy', 'retain'] as const) {
    const [, table] = synthesise({ operations: [getStockSnapshots], onRemoval }).table('Cache') ?? [];
    assert.equal(table?.DeletionPolicy, 'Delete');
    assert.deepEqual(table?.Properties, {
      ...twoKeys,
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
    });
  }
});

test('each function may do what its operations need, and knows the table only then', () => {
  const of = (...actions: readonly string[]) => actions.map((action) => `dynamodb:${action}`);
  const answers = of('DeleteItem', 'GetItem', 'PutItem', 'UpdateItem');
  const expected = {
    accounts: answers,
    // Besides what last prices take: last-prices.test.ts.
    orders: of('DeleteItem', 'PutItem'),
    'order-cancels': of('DeleteItem', 'PutItem'),
    'order-reads': answers,
    'order-streams': [],
    watchlists: answers,
    instruments: answers,
    screeners: answers,
    fundamentals: answers,
    'market-data': of('BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'),
    'quote-streams': of('BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'),
  } as const;
  const tableId = everything.table('Cache')?.[0];
  for (const name of openable.flatMap(functionsOf)) {
    const [, { Properties }] = everything.functionOf(name);
    const role = everything.template.Resources[idOf(Properties.Role)];
    const statements = policiesOf(role)
      .filter(({ PolicyName }) => PolicyName !== 'ReadQuotes')
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter((one) => JSON.stringify(one).includes(`"${tableId}"`));
    const actions: readonly string[] = expected[name as keyof typeof expected];
    assert.deepEqual(
      statements,
      actions.length === 0
        ? []
        : [
            {
              Effect: 'Allow',
              Action: actions,
              Resource: { 'Fn::GetAtt': [tableId, 'Arn'] },
              // Of what is shared by symbol, a price is a fact for the checks of orders.
              ...(!['market-data', 'quote-streams'].includes(name) && {
                Condition: {
                  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['answers#*', 'spent#*'] },
                },
              }),
            },
          ],
      name,
    );
    const names = policiesOf(role).map(({ PolicyName }) => PolicyName);
    assert.equal(names.includes('ShareAnswers'), actions.length > 0, name);
    assert.equal(settingsOf(Properties, 'CACHE')?.tableName, actions.length > 0 ? tableId : undefined, name);
  }
});

test('what is granted is what the stores call', () => {
  assert.deepEqual(snapshotActions, calledBy('dynamo-snapshot-store'));
  assert.deepEqual(directoryActions, calledBy('dynamo-directory-store'));
  assert.deepEqual(responseActions, calledBy('dynamo-response-store'));
});

test('answers and callers’ shares lie in the partitions that the right names, and nothing else does', () => {
  const partitionsIn = (...names: readonly string[]) =>
    names.flatMap((name) =>
      [...codeOf(name).matchAll(/(?:pk:|=>)\s+`(\w+#)\$/g)].map(([, start]) => `${start}*`),
    );
  assert.deepEqual(partitionsIn('dynamo-response-store'), responsePartitions);
  const ofPrices = partitionsIn('snapshot-keys', 'dynamo-directory-store');
  assert.deepEqual([...new Set(ofPrices)], ['quotes#*']);
});

test('what ends shared answers may do what writing one response calls', async () => {
  const called: string[] = [];
  const store = createDynamoResponseStore({
    tableName: 'Cache',
    partition: 'p',
    client: {
      async send(operation: string) {
        called.push(operation);
        return {};
      },
    },
  });
  await store.write('version', { kind: 'answer', body: new Uint8Array(1), askedAt: 0 }, 1000);
  assert.deepEqual(endingActions, called.sort());
});

test('without anything to share, and with the cache off, there is no table', () => {
  for (const { table, template } of [
    synthesise({ operations: [placeOrder], groups: { orders: 'iam' } }),
    synthesise({ cache: 'off' }),
  ]) {
    assert.equal(table('Cache'), undefined);
    assert.doesNotMatch(JSON.stringify(template), /"CACHE"|ShareAnswers/);
  }
});

test('functions that share answers have what is configured, and no default of lib but the prefix', () => {
  const tuned = synthesise({
    cache: {
      snapshots: { staleAfterSeconds: 10, expireAfterSeconds: 60 },
      clients: { minMaxAgeSeconds: 2, refreshesPerMinute: 0 },
      networkPrefix: { ipv4: 16 },
    },
  });
  const tableName = tuned.table('Cache')?.[0];
  for (const group of ['market-data', 'screeners'] as const)
    assert.deepEqual(settingsOf(tuned.functionOf(group)[1].Properties, 'CACHE'), {
      tableName,
      tuning: { staleAfterMs: 10_000, expireAfterMs: 60_000, minMaxAgeMs: 2000, refreshesPerMinute: 0 },
      networkPrefix: { ipv4: 16, ipv6: 56 },
      hasMarketStream: false,
    });
});
