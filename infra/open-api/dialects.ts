/**
 * The three dialects of a schema: OpenAPI 3.1 (JSON Schema 2020-12), OpenAPI 3.0, and the models of API Gateway,
 * which have fewer keywords. The second and third allow what the first allows, or more; never less.
 *
 * Without a library: a converter of whole documents from 3.1 to 3.0 gives the same schemas, but would replace 12 of
 * these lines, because the other two dialects remain. It brings 66 MB, a compiler of its own among them, and takes
 * 180 ms for a document.
 */

import { isJsonObject, type Json, type JsonObject } from '../json.ts';

export type Dialect = '3.1' | '3.0' | 'api-gateway';

/** @param schema in JSON Schema 2020-12 */
export function inDialect(schema: JsonObject, dialect: Dialect): JsonObject {
  const { $schema: _, required, propertyNames, anyOf, ...rest } = schema;
  const all: JsonObject = {
    ...rest,
    // The names in a JSON object are strings anyway.
    ...(propertyNames && !isPlainText(propertyNames) && { propertyNames }),
    // OpenAPI 3.0 does not allow an empty list here.
    ...(Array.isArray(required) && required.length > 0 && { required }),
    ...(typeof schema.pattern === 'string' && { pattern: portable(schema.pattern) }),
  };
  const inner = Object.fromEntries(
    Object.entries(all).map(([keyword, value]) => [keyword, insideOf(keyword, value, dialect)]),
  );
  const options = Array.isArray(anyOf)
    ? (anyOf as readonly JsonObject[]).map((one) => inDialect(one, dialect))
    : [];
  return writers[dialect](inner, options);
}

function insideOf(keyword: string, value: Json, dialect: Dialect): Json {
  if (keyword === 'properties')
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([name, inner]) => [
        name,
        inDialect(inner as JsonObject, dialect),
      ]),
    );
  if ((keyword === 'items' || keyword === 'additionalProperties') && isJsonObject(value))
    return inDialect(value, dialect);
  return value;
}

/** Each adds the options of a union, of which there may be none, to the other keywords. */
const writers: Readonly<Record<Dialect, (rest: JsonObject, options: readonly JsonObject[]) => JsonObject>> = {
  '3.1': (rest, options) => {
    const { value, others } = orNull(options);
    if (!value || others || typeof value.type !== 'string') return { ...rest, ...union(options) };
    return { ...value, ...rest, type: [value.type, 'null'], ...nullAmongValues(value) };
  },
  '3.0': (rest, options) => {
    const { value, others } = orNull(options);
    const either = options.filter((option) => !isNull(option));
    if (value && !others) return alone({ ...value, ...nullAmongValues(value), ...rest, nullable: true });
    return alone({ ...rest, ...union(either), ...(value && { nullable: true }) });
  },
  // Its models have neither unions nor formats: a value with several forms is not restricted.
  'api-gateway': ({ description: _, format: __, additionalProperties: ___, ...rest }, options) =>
    options.length > 0 ? {} : rest,
};

/**
 * `oneOf` where no value can have two of the types: generators make a type with cases of it, but an empty type of
 * `anyOf`.
 */
function union(options: readonly JsonObject[]): JsonObject {
  if (options.length === 0) return {};
  const types = options.map(({ type }) => (type === 'integer' ? 'number' : type));
  const apart = types.every((type) => typeof type === 'string') && new Set(types).size === types.length;
  return apart ? { oneOf: options } : { anyOf: options };
}

/** OpenAPI 3.0 ignores keywords beside a reference. */
function alone({ $ref, ...rest }: JsonObject): JsonObject {
  if ($ref === undefined) return rest;
  return Object.keys(rest).length > 0 ? { ...rest, allOf: [{ $ref }] } : { $ref };
}

/** The option of a nullable union that is not null, and whether there are further ones. */
function orNull(options: readonly JsonObject[]): { readonly value?: JsonObject; readonly others: boolean } {
  const [value, ...more] = options.filter((option) => !isNull(option));
  return options.some(isNull) && value ? { value, others: more.length > 0 } : { others: false };
}

const isNull = (schema: JsonObject) => schema.type === 'null';

const nullAmongValues = ({ enum: values }: JsonObject) =>
  Array.isArray(values) ? { enum: [...values, null] } : {};

const isPlainText = (schema: Json) =>
  isJsonObject(schema) && schema.type === 'string' && Object.keys(schema).length === 1;

/** ECMAScript's \d is these ten; other languages' takes every script's digits. */
export const portable = (pattern: string) => pattern.replaceAll('\\d', '[0-9]');
