/** Every operation of the catalogue answers its own example, and what it answers fits its schema. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { catalogueSize } from '../support/catalogue-size.ts';
import { openExampleSession } from './stream-client.ts';
import { codeOf, type Draft, send, withSimulator } from './support.ts';

test('the catalogue is whole', () => assert.equal(operations.length, catalogueSize.operations));

describe('the example of', { concurrent: true }, () => {
  for (const operation of operations.filter(({ answeredBy }) => !answeredBy))
    test(operation.id, async () => {
      const { query = {}, body } = operation.example;
      const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '';
      const draft: Draft = {
        method: operation.method,
        target: `${operation.path}${search}`,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      };
      await withSimulator({ unrouted: [], marketStream: {} }, async (simulator) => {
        await openExampleSession(simulator);
        const reply = await send(simulator, draft);
        assert.equal(reply.status, 200, `${codeOf(reply)} ${reply.text}`);
        const fit = v.safeParse(operation.response, reply.json);
        assert.deepEqual(
          fit.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`),
          undefined,
        );
        if (!operation.answersByStatus)
          assert.ok(!isEmpty(reply.json), 'an answer that says nothing shows nothing');
      });
    });
});

/** Whether an answer, or every list in it, has nothing in it. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || value === null) return false;
  const lists = Object.values(value).filter(Array.isArray);
  return Object.keys(value).length === 0 || (lists.length > 0 && lists.every((list) => list.length === 0));
}
