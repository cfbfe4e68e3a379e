/**
 * Simplifies a document for generators of clients. The exact document has unions of types, which become code that does
 * not compile; formats of texts, which become other types than texts; and refusals in two forms, which double a client.
 *
 * Requests become narrower here, responses become wider; never the other way round.
 */

import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { shareEnumerations } from './shared-enumerations.ts';

const prefix = '#/components/schemas/';

/** @param document made by `openApiDocument`, in either version */
export function forGenerators(document: JsonObject): JsonObject {
  const schemas = (document.components as JsonObject).schemas as JsonObject;
  const sent = referredFrom(bodiesOf(document), schemas);
  const simple: JsonObject = Object.fromEntries(
    Object.entries(schemas)
      // References to an untyped schema are replaced by no type at all.
      .filter(([, schema]) => !isUntyped(schema as JsonObject))
      .map(([name, schema]) => [name, simplify(schema, schemas, sent.has(name))]),
  );
  const { schemas: _, responses, ...others } = document.components as JsonObject;
  const components = { ...others, responses: inFlatForm(responses as JsonObject) };
  const rest = { ...document, paths: simplify(document.paths as Json, schemas, false), components };
  const used = referredFrom(rest, simple);
  const kept = Object.fromEntries(Object.entries(simple).filter(([name]) => used.has(name)));
  return shareEnumerations({ ...rest, components: { ...components, schemas: kept } });
}

/** Keeps one form of a refusal, which a client gets unless it asks for the other. */
const inFlatForm = (responses: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(responses).map(([name, response]) => {
      const { content, ...about } = response as JsonObject;
      const json = isJsonObject(content) && content['application/json'];
      return [name, json ? { ...about, content: { 'application/json': json } } : response];
    }),
  );

const bodiesOf = (document: JsonObject): readonly Json[] =>
  Object.values(document.paths as JsonObject).flatMap((path) =>
    Object.values(path as JsonObject).map((operation) => (operation as JsonObject).requestBody ?? null),
  );

/** Names of the schemas that a document refers to, directly or through others. */
function referredFrom(json: Json, schemas: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  const waiting: Json[] = [json];
  for (const one of waiting)
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (!names.has(name)) {
        names.add(name);
        waiting.push(schemas[name] ?? null);
      }
  return names;
}

/** Simplifies schemas, and the document around them. */
function simplify(json: Json, schemas: JsonObject, isSent: boolean): Json {
  if (Array.isArray(json)) return json.map((one: Json) => simplify(one, schemas, isSent));
  if (!isJsonObject(json)) return json;
  const about = typeof json.description === 'string' ? { description: json.description } : {};
  const [first, second] = optionsOf(referredTo(json, schemas));
  if (second && !isSent) return about;
  // One of the accepted forms is enough for a request.
  if (first && second) return { ...about, ...(simplify(first, schemas, isSent) as JsonObject) };
  const [only] = optionsOf(json);
  const { oneOf: _, anyOf: __, ...around } = json;
  const flat = only && (json.oneOf || json.anyOf) ? { ...only, ...around } : json;
  return Object.fromEntries(
    Object.entries(isSent ? asNewClientsSend(withoutNull(flat)) : flat)
      // Generators turn a format into another type: a decimal into a binary number, a day into a moment, a URL into a parser.
      .filter(([keyword, value]) => !(keyword === 'format' && typeof value === 'string' && value !== 'int64'))
      // An example is a value, and its members may have a keyword's name.
      .map(([keyword, value]) => [
        keyword,
        /^examples?$/.test(keyword)
          ? value
          : simplify(keyword === 'properties' ? distinct(value as JsonObject) : value, schemas, isSent),
      ]),
  );
}

/** Keeps the first of names that are the same in code, `instrumentId` and `instrument_id`; none of them is required. */
function distinct(members: JsonObject): JsonObject {
  const seenNames = new Set<string>();
  return Object.fromEntries(
    Object.entries(members).filter(([name]) => {
      const inCode = name.replaceAll('_', '').toLowerCase();
      return !seenNames.has(inCode) && seenNames.add(inCode);
    }),
  );
}

/** Resolves a reference, alone or as the only part of a composition, which OpenAPI 3.0 needs for keywords beside it. */
function referredTo(schema: JsonObject, schemas: JsonObject): JsonObject {
  const [part] = (schema.allOf ?? []) as readonly JsonObject[];
  const { $ref } = part ?? schema;
  return typeof $ref === 'string' ? ((schemas[$ref.slice(prefix.length)] ?? {}) as JsonObject) : schema;
}

const optionsOf = ({ oneOf, anyOf }: JsonObject): readonly JsonObject[] =>
  ((oneOf ?? anyOf ?? []) as readonly JsonObject[]).filter(({ type }) => type !== 'null');

/** Tells whether a schema allows several types: sources differ on the type, or the upstream sends one or the other. */
const isUntyped = (schema: JsonObject) => optionsOf(schema).length > 1;

/** Removes null from the schema of a request: a generated client leaves out an absent member. */
function withoutNull({ nullable: _, ...schema }: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  return {
    ...schema,
    ...(Array.isArray(type) && { type: type.filter((one) => one !== 'null')[0] as Json }),
    ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }),
  };
}

/** Values of a session that only old clients send. Other enumerations have the same letters, and no new client needs them. */
const oldSessions: readonly Json[] = ['Y', 'N'];
/** Members that only old clients leave out of an order. A client in Go would have a pointer for each optional one. */
const membersOfNewOrders = ['combo_type', 'instrument_type', 'market', 'symbol'];

function asNewClientsSend(schema: JsonObject): JsonObject {
  const { enum: values, required, properties } = schema;
  if (Array.isArray(values) && values.includes('CORE'))
    return { ...schema, enum: values.filter((value: Json) => !oldSessions.includes(value)) };
  if (!Array.isArray(required) || !required.includes('entrust_type') || !isJsonObject(properties))
    return schema;
  const more = membersOfNewOrders.filter((name) => name in properties);
  return { ...schema, required: [...new Set([...required, ...more])] };
}
