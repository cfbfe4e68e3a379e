/** Answers in the other form of what sources disagree on fit the same schemas, and differ from the usual ones. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { test } from 'vitest';
import type { SimulatorOptions } from '../../infra/simulator/index.ts';
import { type Operation, operations } from '../../lib/catalogue/index.ts';
import { openExampleSession } from './stream-client.ts';
import { codeOf, send, withSimulator } from './support.ts';

/** Of the operations' examples, by operation id. */
async function answersOf(options: Partial<SimulatorOptions>): Promise<ReadonlyMap<Operation, unknown>> {
  const answers = new Map<Operation, unknown>();
  await withSimulator({ unrouted: [], marketStream: {}, ...options }, async (simulator) => {
    await openExampleSession(simulator);
    for (const operation of operations.filter(({ answeredBy }) => !answeredBy)) {
      const { query = {}, body } = operation.example;
      const reply = await send(simulator, {
        method: operation.method,
        target: `${operation.path}?${new URLSearchParams(query)}`.replace(/\?$/, ''),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(reply.status, 200, `${operation.id}: ${codeOf(reply)}`);
      answers.set(operation, reply.json);
    }
  });
  return answers;
}

test('every answer has another form that fits its schema, where its schema has several', async () => {
  const usual = await answersOf({});
  const other = await answersOf({ forms: 'other' });
  const different = [...usual].flatMap(([operation, answer]) => {
    const changed = other.get(operation);
    assert.ok(v.is(operation.response, changed), operation.id);
    return JSON.stringify(answer) === JSON.stringify(changed) ? [] : [operation.id];
  });
  for (const id of ['getOrder', 'getAccountBalance', 'listStockBars', 'listOptionBars', 'updateWatchlist'])
    assert.ok(different.includes(id), id);
  for (const id of ['listAccounts', 'placeOrder', 'getCompanyProfile'])
    assert.ok(!different.includes(id), id);
});
