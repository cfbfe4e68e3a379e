/**
 * The budget store in memory keeps the contract, as the one over DynamoDB does (`store-dynamo.test.ts`), which
 * rejects soon where there is no engine.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createDynamoBudgetStore } from '../../functions/aws/dynamo-budget-store.ts';
import { createMemoryBudgetStore } from '../../lib/gateway/budget/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { emulatorEnvironment } from './dynamo.ts';
import { budgetStoreContract } from './store.contract.ts';

Object.assign(process.env, emulatorEnvironment);

const memory = createMemoryBudgetStore();
budgetStoreContract('in memory', () => memory);

test('a table that is not there, or an engine, rejects, and soon', async () => {
  const endpoint = `http://127.0.0.1:${await closedPort()}`;
  const store = createDynamoBudgetStore({ tableName: 'budget', endpoint, timeoutMs: 100 });
  await assert.rejects(store.read('key'));
  await assert.rejects(store.add('key', 'r', [], 1));
  await assert.rejects(
    store.replace('key', undefined, { revision: '', counters: {}, text: '', writtenAt: 1 }, 1),
  );
});
