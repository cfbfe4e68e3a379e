/**
 * Writes schemas in three dialects: OpenAPI 3.1 (JSON Schema 2020-12), OpenAPI 3.0, and the models of API Gateway, which
 * have fewer keywords. The second and third allow what the first allows, or more; never less.
 *
 * No library does it: a converter of whole documents from 3.1 to 3.0 gives the same schemas, but would replace only 12 of
 * these lines, because the other two dialects remain. It brings 66 MB, among them a compiler, and takes 180 ms for a
 * document.
 */

import { isJsonObject, type Json, type JsonObject } from '../json.ts';

export type Dialect = '3.1' | '3.0' | 'api-gateway';

/** Finds the type behind a reference; undefined for a union, which has several. */
type TypeOfReference = (reference: string) => string | undefined;

/** @param schema in JSON Schema 2020-12 */
export function inDialect(schema: JsonObject, dialect: Dialect, typeOf: TypeOfReference): JsonObject {
  const { $schema: _, required, propertyNames, anyOf, ...rest } = schema;
  const all: JsonObject = {
    ...rest,
    // Omitted when trivial: names in a JSON object are strings anyway.
    ...(propertyNames && !isPlainText(propertyNames) && { propertyNames }),
    // OpenAPI 3.0 does not allow an empty list here.
    ...(Array.isArray(required) && required.length > 0 && { required }),
    ...(typeof schema.pattern === 'string' && { pattern: portable(schema.pattern) }),
  };
  const inner = Object.fromEntries(
    Object.entries(all).map(([keyword, value]) => [keyword, insideOf(keyword, value, dialect, typeOf)]),
  );
  const options = Array.isArray(anyOf)
    ? (anyOf as readonly JsonObject[]).map((one) => inDialect(one, dialect, typeOf))
    : [];
  return writers[dialect](inner, options, typeOf);
}

function insideOf(keyword: string, value: Json, dialect: Dialect, typeOf: TypeOfReference): Json {
  if (keyword === 'properties')
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([name, inner]) => [
        name,
        inDialect(inner as JsonObject, dialect, typeOf),
      ]),
    );
  if ((keyword === 'items' || keyword === 'additionalProperties') && isJsonObject(value))
    return inDialect(value, dialect, typeOf);
  return value;
}

type Rewrite = (rest: JsonObject, options: readonly JsonObject[], typeOf: TypeOfReference) => JsonObject;

/** Writes a schema in each dialect from its keywords and the options of its union, of which there may be none. */
const writers: Readonly<Record<Dialect, Rewrite>> = {
  '3.1': (rest, options, typeOf) => {
    const { value, others } = orNull(options);
    const inner = value?.oneOf ?? value?.anyOf;
    if (value && !others && Array.isArray(inner)) {
      const { oneOf: _, anyOf: __, ...about } = value;
      return { ...about, ...rest, ...unionOf([...(inner as JsonObject[]), { type: 'null' }], typeOf) };
    }
    if (!value || others || typeof value.type !== 'string') return { ...rest, ...unionOf(options, typeOf) };
    return { ...value, ...rest, type: [value.type, 'null'], ...nullAmongValues(value) };
  },
  '3.0': (rest, options, typeOf) => {
    const { value, others } = orNull(options);
    const either = options.filter((option) => !isNull(option));
    if (!value) return alone({ ...rest, ...unionOf(either, typeOf) });
    if (others) return { ...rest, ...unionOf(orNullAmong(either), typeOf) };
    const inner = value.oneOf ?? value.anyOf;
    if (!Array.isArray(inner)) return alone({ ...value, ...nullAmongValues(value), ...rest, nullable: true });
    return { ...value, ...rest, [value.oneOf ? 'oneOf' : 'anyOf']: orNullAmong(inner as JsonObject[]) };
  },
  // API Gateway's models have neither unions nor formats: a value with several forms is not restricted.
  'api-gateway': ({ description: _, format: __, additionalProperties: ___, ...rest }, options) =>
    options.length > 0 ? {} : rest,
};

/**
 * Writes `oneOf` if no value can have two of the types. Generators make a type with cases from it, but an empty type from
 * `anyOf`.
 */
function unionOf(options: readonly JsonObject[], typeOf: TypeOfReference): JsonObject {
  if (options.length === 0) return {};
  const types = options.map(({ $ref, type = typeof $ref === 'string' ? typeOf($ref) : undefined }) =>
    type === 'integer' ? 'number' : type,
  );
  const apart = types.every((type) => typeof type === 'string') && new Set(types).size === types.length;
  return apart ? { oneOf: options } : { anyOf: options };
}

/** OpenAPI 3.0 ignores keywords beside a reference. */
function alone({ $ref, ...rest }: JsonObject): JsonObject {
  if ($ref === undefined) return rest;
  return Object.keys(rest).length > 0 ? { ...rest, allOf: [{ $ref }] } : { $ref };
}

/** Finds the option of a nullable union that is not null, and whether there are further ones. */
function orNull(options: readonly JsonObject[]): { readonly value?: JsonObject; readonly others: boolean } {
  const [value, ...more] = options.filter((option) => !isNull(option));
  return options.some(isNull) && value ? { value, others: more.length > 0 } : { others: false };
}

const isNull = (schema: JsonObject) => schema.type === 'null';

/** Lets one option accept null, because OpenAPI 3.0 knows null only beside a type. */
function orNullAmong(options: readonly JsonObject[]): readonly JsonObject[] {
  const taker = options.findIndex(({ type }) => type !== undefined);
  return options.map((option, at) =>
    at === taker ? { ...option, ...nullAmongValues(option), nullable: true } : option,
  );
}

const nullAmongValues = ({ enum: values }: JsonObject) =>
  Array.isArray(values) ? { enum: [...values, null] } : {};

const isPlainText = (schema: Json) =>
  isJsonObject(schema) && schema.type === 'string' && Object.keys(schema).length === 1;

/** Rewrites \d, which is ten digits in ECMAScript and the digits of every script in other languages. */
export const portable = (pattern: string) => pattern.replaceAll('\\d', '[0-9]');
