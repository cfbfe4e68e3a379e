/** One catalogue entry, and everything that is derived from it follows. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { test } from 'vitest';
import { operationsTable } from '../../infra/documents/operations-table.ts';
import { apiDefinition } from '../../infra/stack/api-definition.ts';
import { inferred } from '../../lib/catalogue/notes.ts';
import { describe } from '../../lib/catalogue/operation.ts';
import { choice, list, optional } from '../../lib/catalogue/parameters.ts';
import { decimal, decimalText } from '../../lib/catalogue/schemas.ts';
import { createClient, direct, reported } from '../../lib/client/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { documentOf } from '../open-api/support.ts';
import { ask, coreFor, credentials, problemOf } from '../support/core.ts';

const madeUp = describe({
  id: 'weighMoons',
  group: 'screeners',
  title: 'Weigh moons',
  method: 'POST',
  path: '/moons/weigh',
  aliases: ['/v0/moons/weigh'],
  query: {
    planet: choice(['JUPITER', 'SATURN'], { description: 'Whose moons.' }),
    names: optional(list({ description: 'Some of them.', maxItems: 5 })),
  },
  body: v.looseObject({ unit: v.picklist(['KG']), rounds: v.pipe(v.array(decimalText), v.minLength(1)) }),
  response: v.array(v.looseObject({ name: v.string(), weight: decimal })),
  limit: 'market-data',
  sideEffect: { findOut: 'Look at the scales.', saysOutcome: Array.isArray },
  example: { query: { planet: 'SATURN', names: 'TITAN' }, body: { unit: 'KG', rounds: ['1.5'] } },
  sources: { path: ['inferred'], request: ['interface', 'vendor-sdk'], response: ['vendor-docs'] },
  notes: [inferred('All moons at once take a while.')],
  decisions: ['Moons have no weight, but a mass.'],
});

test('a route of the gateway with its checks, and an answer of the simulator that fits', async (t) => {
  const { gateway, simulator } = await coreFor(t, { operations: [madeUp] }, { operations: [madeUp] });
  const body = '{"unit":"KG","rounds":["1.5"]}';
  for (const path of ['/moons/weigh', '/v0/moons/weigh']) {
    const reply = await ask(gateway, `${path}?planet=SATURN&names=TITAN`, { body });
    assert.equal(reply.status, 200, reply.text);
    assert.ok(v.is(madeUp.response, JSON.parse(reply.text)), reply.text);
    assert.equal(simulator.received.at(-1)?.target, `${path}?planet=SATURN&names=TITAN`);
  }
  const wrong = problemOf(
    await ask(gateway, '/moons/weigh?planet=MARS', { body: '{"unit":"KG","rounds":[]}' }),
  );
  assert.deepEqual(
    wrong.errors?.map(({ name }) => name),
    ['planet', '/rounds'],
  );
  assert.equal(simulator.received.length, 2);
});

test('a method of the client, typed and checked', async (t) => {
  const { simulator } = await coreFor(t, { operations: [madeUp] });
  const client = createClient(
    { weighMoons: madeUp },
    direct({ baseUrl: simulator.url, signer: createSigner(credentials) }),
  );
  const [moon] = await client.weighMoons({ unit: 'KG', rounds: ['1.5'] }, { query: { planet: 'SATURN' } });
  const weight: string | undefined = reported(moon?.weight);
  assert.match(weight ?? '', /^\d/);
  // @ts-expect-error there is no such unit
  await assert.rejects(client.weighMoons({ unit: 'LB', rounds: ['1'] }, { query: { planet: 'SATURN' } }), {
    kind: 'invalid_request',
  });
});

test('a path of the document, with parameters, body, answer and the types of both', () => {
  const { paths, components } = documentOf({ operations: [madeUp] });
  const { operationId, parameters, requestBody, responses, description } = paths['/moons/weigh']!.post!;
  assert.equal(operationId, 'weighMoons');
  assert.deepEqual(
    parameters?.map(({ name, required = false, schema }) => [name, required, schema.type]),
    [
      ['planet', true, 'string'],
      ['names', false, 'array'],
    ],
  );
  assert.deepEqual(requestBody?.content['application/json'], {
    schema: { $ref: '#/components/schemas/WeighMoonsBody' },
    example: { unit: 'KG', rounds: ['1.5'] },
  });
  assert.deepEqual(responses[200]?.content?.['application/json']?.schema, {
    type: 'array',
    items: { $ref: '#/components/schemas/WeighMoonsItem' },
  });
  assert.deepEqual(components.schemas.WeighMoonsBody?.required, ['unit', 'rounds']);
  for (const words of ['Look at the scales.', '300 requests in 60 s', '/v0/moons/weigh', 'a mass'])
    assert.ok(description.includes(words), words);
});

test('routes of API Gateway, one for each path, with its validator and the model of its body', () => {
  const { paths, components } = apiDefinition({
    title: 'Test',
    operations: [madeUp],
    access: { screeners: 'api-key' },
    integrationUris: { screeners: 'uri:screeners' },
    origins: [],
    throttleRetryAfterSeconds: 1,
  }) as unknown as {
    paths: Record<string, { post?: Record<string, unknown> }>;
    components: { schemas: Record<string, unknown> };
  };
  for (const [path, id] of [
    ['/moons/weigh', 'weighMoons'],
    ['/v0/moons/weigh', 'weighMoonsAlias1'],
  ] as const) {
    const route = paths[path]?.post;
    assert.equal(route?.operationId, id);
    assert.deepEqual(route?.parameters, [
      { name: 'planet', in: 'query', required: true, schema: { type: 'string' } },
    ]);
    assert.deepEqual(route?.requestBody, {
      content: { 'application/json': { schema: { $ref: '#/components/schemas/WeighMoonsBody' } } },
    });
  }
  assert.deepEqual(Object.keys(components.schemas), ['WeighMoonsBody']);
});

test('a row of the documentation', () => {
  const text = operationsTable([madeUp]);
  assert.ok(
    text.includes(
      '| `weighMoons`<br>Weigh moons | POST `/moons/weigh`<br>`/v0/moons/weigh` | **`planet`**, `names`, **JSON body** | 300 in 60 s | ? · IS · D | 1 |',
    ),
    text,
  );
  assert.ok(text.includes('| `weighMoons` | Look at the scales. |'));
  assert.ok(text.includes('1. Moons have no weight, but a mass.'));
  assert.ok(text.includes('- `weighMoons`: All moons at once take a while. _(inferred)_'));
});
