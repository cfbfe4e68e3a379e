/**
 * Schemas of the events' `detail` in JSON Schema (2020-12), derived from the contract and, for reads, from the
 * catalogue's entries. Requests allow no further members, replies do.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readsOf } from '../../functions/settings/lookup-settings.ts';
import { type Operation, openable, operations } from '../../lib/catalogue/index.ts';
import { eventNames } from '../../lib/events/names.ts';
import * as contract from '../../lib/events/schemas.ts';
import { orderEventSchemas } from '../../lib/orders/schemas.ts';
import { orderSettledName } from '../../lib/orders/settled-event.ts';
import { tradeEventSchemas } from '../../lib/trade-events/bus-events.ts';
import { tradeEventNames } from '../../lib/trade-events/index.ts';
import type { JsonObject } from '../json.ts';
import { parameterSchema } from '../open-api/request.ts';
import { namesFor } from '../open-api/schema-names.ts';
import { createSchemas, type Schemas } from '../open-api/schemas.ts';

const descriptions: Readonly<Record<string, string>> = {
  [eventNames.quotes.requested]: 'Asks for quotes. To a bus, a queue, or the function itself.',
  [eventNames.quotes.completed]: 'Quotes, and by name what is unknown or could not be had.',
  [eventNames.quotes.failed]: 'A lookup of quotes had nothing to give.',
  [eventNames.read.requested]: 'Asks for any other read of an open group, by the id of its operation.',
  [eventNames.read.completed]: 'The answer of the upstream to a read.',
  [eventNames.read.failed]: 'A read was refused, or not answered in time.',
  [tradeEventNames.order]: 'An order was filled, replaced, cancelled or refused, or a change of it was.',
  [tradeEventNames.position]: 'A position was settled.',
  [tradeEventNames.other]: 'The event stream has told something else, or something that cannot be read.',
  [orderSettledName]: 'It is known what became of a request whose outcome was unknown, or was known wrongly.',
};

/** Schemas by the events' names. A deployment with closed groups accepts fewer operations. */
export function eventSchemas(): Readonly<Record<string, JsonObject>> {
  const reads = readsOf(operations, openable);
  return {
    ...schemaOf(eventNames.quotes.requested, (schemas) =>
      schemas.of(contract.quoteLookupRequested, 'request'),
    ),
    ...schemaOf(eventNames.quotes.completed, (schemas) =>
      schemas.of(contract.quoteLookupCompleted, 'response'),
    ),
    ...schemaOf(eventNames.quotes.failed, (schemas) => schemas.of(contract.quoteLookupFailed, 'response')),
    ...schemaOf(eventNames.read.requested, (schemas) => readRequested(schemas, reads)),
    ...schemaOf(eventNames.read.completed, (schemas) => readCompleted(schemas, reads)),
    ...schemaOf(eventNames.read.failed, (schemas) => schemas.of(contract.readFailed, 'response')),
    ...schemaOf(tradeEventNames.order, (schemas) => schemas.of(tradeEventSchemas.OrderChanged, 'response')),
    ...schemaOf(tradeEventNames.position, (schemas) =>
      schemas.of(tradeEventSchemas.PositionChanged, 'response'),
    ),
    ...schemaOf(tradeEventNames.other, (schemas) =>
      schemas.of(tradeEventSchemas.TradeEventReceived, 'response'),
    ),
    ...schemaOf(orderSettledName, (schemas) => schemas.of(orderEventSchemas.OrderSettled, 'response')),
  };
}

function schemaOf(name: string, make: (schemas: Schemas) => JsonObject): Record<string, JsonObject> {
  const schemas = createSchemas(namesFor([]), '3.1');
  const schema = make(schemas);
  const definitions = schemas.components();
  const text = JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:countersign:event:${name}`,
    title: name,
    description: descriptions[name],
    ...schema,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  });
  return { [name]: JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/')) as JsonObject };
}

/** Schema of a request: each operation has its own parameters. */
function readRequested(schemas: Schemas, reads: readonly Operation[]): JsonObject {
  const { properties, required, ...rest } = schemas.of(contract.readRequested, 'request');
  const { operation: _, query: __, body: ___, ...common } = properties as JsonObject;
  return {
    type: 'object',
    required: required ?? [],
    properties: { operation: { enum: reads.map(({ id }) => id) } },
    oneOf: reads.map((operation) => ({
      title: operation.id,
      ...rest,
      properties: {
        ...common,
        operation: { const: operation.id },
        query: queryOf(operation),
        ...(operation.body && { body: schemas.of(operation.body, 'request') }),
      },
      required: [
        ...(isRequired(operation) ? ['query'] : []),
        ...(operation.body ? ['body'] : []),
        'operation',
      ],
    })),
  };
}

function queryOf({ query, anyQuery }: Operation): JsonObject {
  const required = Object.keys(query).filter((name) => query[name]?.required);
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(query).map(([name, parameter]) => [
        name,
        { description: parameter.description, ...parameterSchema(parameter) },
      ]),
    ),
    ...(required.length > 0 && { required }),
    ...(!anyQuery && { additionalProperties: false }),
  };
}

const isRequired = ({ query }: Operation) => Object.values(query).some(({ required }) => required);

/** Schema of a reply: each operation has its own answer, or pieces of the answer's text. */
function readCompleted(schemas: Schemas, reads: readonly Operation[]): JsonObject {
  const { properties, ...rest } = schemas.of(contract.readCompleted, 'response');
  const { answer: _, ...common } = properties as JsonObject;
  return {
    ...rest,
    properties: common,
    oneOf: [
      ...reads.map((operation) => ({
        title: operation.id,
        properties: {
          operation: { const: operation.id },
          answer: schemas.of(operation.response, 'response'),
          parts: { const: 1 },
        },
        required: ['answer'],
      })),
      { title: 'In pieces', properties: { parts: { minimum: 2 } }, required: ['text'] },
    ],
  };
}

/** Writes the published package's files, `countersign/events/NAME.json`. @returns their paths */
export function writeEventSchemas(folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  return Object.entries(eventSchemas()).map(([name, schema]) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, `${JSON.stringify(schema, undefined, 2)}\n`);
    return path;
  });
}
