/**
 * The store of lookups in memory keeps the contract, as the one over DynamoDB does (`store-dynamo.test.ts`),
 * which rejects where there is no engine.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoLookupStore } from '../../functions/aws/dynamo-lookup-store.ts';
import { createMemoryLookupStore } from '../../lib/lookups/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';
import { lookupStoreContract } from './store.contract.ts';

Object.assign(process.env, emulatorEnvironment);

const memory = createMemoryLookupStore();
lookupStoreContract('in memory', () => memory);

test('an engine that is not there rejects', async () => {
  const client = createDynamoClient(`http://127.0.0.1:${await closedPort()}`);
  const store = createDynamoLookupStore({ client, tableName: 'lookups', timeoutMs: 100 });
  await assert.rejects(store.claim({ id: 'id', hash: 'h', owner: 'o', now: 1, leaseUntil: 2, expiresAt: 3 }));
  await assert.rejects(store.saveReply('id', 'o', { detailType: '', details: [] }));
  await assert.rejects(store.complete('id', 1));
  await assert.rejects(store.release('id', 'o'));
});
