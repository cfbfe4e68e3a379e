/** Answers have the members that the catalogue describes: a client that takes no others reads all of them. */

import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'vitest';
import type { Json, JsonObject } from '../../infra/json.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { documentOf } from '../open-api/support.ts';
import { send, withSimulator } from './support.ts';

/** Objects with members take these alone. */
function closed(json: Json): Json {
  if (Array.isArray(json)) return json.map((one: Json) => closed(one));
  if (typeof json !== 'object' || json === null) return json;
  const object = json as JsonObject;
  return {
    ...Object.fromEntries(Object.entries(object).map(([keyword, inner]) => [keyword, closed(inner)])),
    ...(object.type === 'object' && object.properties && { additionalProperties: false }),
  };
}

test('an answer to the example of each operation has no member that the document leaves out', async () => {
  const { paths, components } = documentOf({ version: '3.1' });
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: { schemas: closed(components.schemas as unknown as Json) } });
  let checked = 0;
  await withSimulator({ unrouted: [] }, async (simulator) => {
    for (const { id, method, path, example, answeredBy } of operations) {
      // No upstream's.
      if (answeredBy) continue;
      const schema =
        paths[path]?.[method.toLowerCase()]?.responses[200]?.content?.['application/json']?.schema;
      if (!schema) continue;
      const { query = {}, body } = example;
      const { json } = await send(simulator, {
        method,
        target: `${path}?${new URLSearchParams(query)}`.replace(/\?$/, ''),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = JSON.stringify(closed(schema as Json)).replaceAll('"#/', '"document#/');
      assert.ok(
        ajv.validate(JSON.parse(text), json),
        `${id}: ${ajv.errorsText()} ${JSON.stringify(ajv.errors?.[0]?.params)}`,
      );
      checked++;
    }
  });
  assert.ok(checked > 70, `${checked} operations`);
});
