/**
 * Every operation answers its own example with what fits its schema and has no member that the document leaves out; and the
 * other form of what sources disagree on fits, too.
 */

import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { beforeAll, describe, test } from 'vitest';
import type { Json, JsonObject } from '../../../infra/json.ts';
import type { SimulatorOptions } from '../../../infra/simulator/index.ts';
import { operations } from '../../../lib/catalogue/index.ts';
import { documentOf } from '../../open-api/support.ts';
import { catalogueSize } from '../../support/catalogue-size.ts';
import { openExampleSession } from '../stream-client.ts';
import { codeOf, send, withSimulator } from '../support.ts';

const ofUpstream = operations.filter(({ answeredBy }) => !answeredBy);

/** Objects with members take these alone: a client that takes no others reads all of them. */
function closed(json: Json): Json {
  if (Array.isArray(json)) return json.map((one: Json) => closed(one));
  if (typeof json !== 'object' || json === null) return json;
  const object = json as JsonObject;
  return {
    ...Object.fromEntries(Object.entries(object).map(([keyword, inner]) => [keyword, closed(inner)])),
    ...(object.type === 'object' && object.properties && { additionalProperties: false }),
  };
}

/** Of the operations' examples, one after the other, by operation id. */
async function answersOf(options: Partial<SimulatorOptions> = {}): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>();
  await withSimulator({ unrouted: [], marketStream: {}, ...options }, async (simulator) => {
    await openExampleSession(simulator);
    for (const { id, method, path, example } of ofUpstream) {
      const { query = {}, body } = example;
      const reply = await send(simulator, {
        method,
        target: `${path}?${new URLSearchParams(query)}`.replace(/\?$/, ''),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(reply.status, 200, `${id}: ${codeOf(reply)} ${reply.text}`);
      answers.set(id, reply.json);
    }
  });
  return answers;
}

test('the catalogue is whole', () => assert.equal(operations.length, catalogueSize.operations));

describe('the example of', () => {
  const { paths, components } = documentOf({ version: '3.1' });
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: { schemas: closed(components.schemas as unknown as Json) } });
  let [usual, other]: ReadonlyMap<string, unknown>[] = [];
  beforeAll(async () => {
    [usual, other] = [await answersOf(), await answersOf({ forms: 'other' })];
  });

  for (const { id, method, path, response, answersByStatus } of ofUpstream)
    test(id, () => {
      const answer = usual?.get(id);
      const fit = v.safeParse(response, answer);
      assert.deepEqual(
        fit.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`),
        undefined,
      );
      assert.ok(v.is(response, other?.get(id)), 'the other form');
      if (!answersByStatus) assert.ok(!isEmpty(answer), 'an answer that says nothing shows nothing');
      const described = paths[path]?.[method.toLowerCase()]?.responses[200]?.content?.['application/json'];
      if (!described?.schema) return;
      const text = JSON.stringify(closed(described.schema as Json)).replaceAll('"#/', '"document#/');
      assert.ok(ajv.validate(JSON.parse(text), answer), ajv.errorsText());
    });

  test('has two forms, where its schema has several', () => {
    const isChanged = (id: string) => JSON.stringify(usual?.get(id)) !== JSON.stringify(other?.get(id));
    for (const id of ['getOrder', 'getAccountBalance', 'listStockBars', 'listOptionBars', 'updateWatchlist'])
      assert.ok(isChanged(id), id);
    for (const id of ['listAccounts', 'placeOrder', 'getCompanyProfile']) assert.ok(!isChanged(id), id);
  });
});

/** Whether an answer, or every list in it, has nothing in it. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || value === null) return false;
  const lists = Object.values(value).filter(Array.isArray);
  return Object.keys(value).length === 0 || (lists.length > 0 && lists.every((list) => list.length === 0));
}
