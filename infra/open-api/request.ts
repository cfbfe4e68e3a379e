/** Documents an operation's parameters and body, as the gateway checks them. */

import type { Operation, Parameter } from '../../lib/catalogue/index.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';
import { maxBodyBytesOf } from '../../lib/catalogue/validation.ts';
import type { Json, JsonObject } from '../json.ts';
import { sharingParametersOf } from './cache.ts';
import { portable } from './dialects.ts';
import { keyParametersOf } from './journaled.ts';
import type { Schemas } from './schemas.ts';

/** Parameters: the query, then headers that are forwarded, the key of a change, and headers on freshness. */
export function parametersOf(operation: Operation): readonly JsonObject[] {
  const { query, headers = [], example } = operation;
  return [
    ...Object.entries(query).map(([name, parameter]) => {
      const value = example.query?.[name];
      return {
        name,
        in: 'query',
        ...(parameter.required && { required: true }),
        description: describeParameter(parameter),
        // Several values travel as one text.
        ...(parameter.list && { style: 'form', explode: false }),
        schema: parameterSchema(parameter),
        ...(value !== undefined && { example: typedValue(parameter, value) }),
      };
    }),
    ...headers.map((name) => ({
      name,
      in: 'header',
      description: 'Forwarded to the upstream as it is.',
      // No space at either end: HTTP would lose it.
      schema: { type: 'string', pattern: '^[!-~]([ -~]{0,254}[!-~])?$' },
    })),
    ...keyParametersOf(operation),
    ...sharingParametersOf(operation),
  ];
}

export function parameterSchema({ json, list }: Parameter): JsonObject {
  const value = {
    ...json,
    ...(json.pattern && { pattern: portable(json.pattern) }),
  } as unknown as JsonObject;
  if (!list) return value;
  return {
    type: 'array',
    items: value,
    minItems: 1,
    ...(list.maxItems !== undefined && { maxItems: list.maxItems }),
  };
}

/** Adds the allowed values if the schema does not show them at a glance. */
export const describeParameter = ({ description, allowed, json }: Parameter) =>
  json.enum || json.type === 'boolean' ? description : `${description} Takes ${allowed}.`;

/** Converts a query's text to the value that the schema describes. */
function typedValue({ json, list }: Parameter, text: string): Json {
  if (list) return text.split(list.separator).map((item) => typedScalar(json.type, item));
  return typedScalar(json.type, text);
}

function typedScalar(type: Parameter['json']['type'], text: string): Json {
  if (type === 'integer') return Number(text);
  if (type === 'boolean') return text === 'true';
  return text;
}

/** Documents the body; undefined for an operation without one. */
export function requestBodyOf(operation: Operation, schemas: Schemas): JsonObject | undefined {
  const { body, example } = operation;
  if (!body) return undefined;
  const isClosed = isGuarded(operation);
  return {
    required: true,
    description: `JSON of at most ${maxBodyBytesOf(operation) / 1024} KiB. Members that the schema does not name are ${isClosed ? 'refused, because no check would know what they say' : 'passed on'}.`,
    content: {
      'application/json': {
        schema: schemas.of(body, 'request', isClosed),
        ...(example.body !== undefined && { example: example.body as Json }),
      },
    },
  };
}
