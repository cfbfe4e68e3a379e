/**
 * Makes one named enumeration of several places with the same values: generators would make a type of each place.
 *
 * No two named enumerations share a value, because some generators make a constant of each value under the value's name
 * alone. Among those that share one, the enumeration with the most places is named, and the others stay in place.
 */

import { isJsonObject, type Json, type JsonObject } from '../json.ts';

interface EnumerationPlace {
  /** Name of the member or parameter. */
  readonly name: string;
  /** Name of the schema or operation around it. */
  readonly owner: string;
}

type Enumeration = JsonObject & { readonly enum: readonly string[] };

const isEnumeration = (json: Json | undefined): json is Enumeration =>
  isJsonObject(json) && json.type === 'string' && Array.isArray(json.enum);

export function shareEnumerations(document: JsonObject): JsonObject {
  const components = document.components as JsonObject;
  const found = new Map<string, EnumerationPlace[]>();
  for (const [owner, schema] of Object.entries(components.schemas as JsonObject))
    collect(schema, { name: owner, owner }, found);
  collect(document.paths as Json, { name: '', owner: '' }, found);
  const names = namesOf(found, new Set([...ofLanguages, ...Object.keys(components.schemas as JsonObject)]));
  const shared = [...names].map(([values, name]): [string, JsonObject] => [
    name,
    { type: 'string', enum: values.split('|') },
  ]);
  const schemas = Object.entries(withReferences(components.schemas as JsonObject, names) as JsonObject);
  return {
    ...document,
    paths: withReferences(document.paths as Json, names),
    components: {
      ...components,
      schemas: Object.fromEntries([...schemas, ...shared].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
}

const keyOf = (schema: Enumeration) => schema.enum.join('|');

function collect(json: Json, place: EnumerationPlace, found: Map<string, EnumerationPlace[]>): void {
  if (Array.isArray(json)) for (const one of json as readonly Json[]) collect(one, place, found);
  if (!isJsonObject(json)) return;
  if (isEnumeration(json)) {
    const key = keyOf(json);
    found.set(key, [...(found.get(key) ?? []), place]);
    return;
  }
  const here = {
    name: typeof json.name === 'string' && json.in ? json.name : place.name,
    owner: typeof json.operationId === 'string' ? json.operationId : place.owner,
  };
  for (const [keyword, inner] of Object.entries(json))
    if (keyword === 'properties')
      for (const [name, member] of Object.entries(inner as JsonObject))
        collect(member, { name, owner: here.owner }, found);
    else if (!/^examples?$/.test(keyword)) collect(inner, here, found);
}

/** Types that a language has everywhere, or that generated code imports from its library. */
const ofLanguages = [
  'Any',
  'Class',
  'Data',
  'Date',
  'Error',
  'List',
  'Map',
  'Object',
  'Protocol',
  'Result',
  'Self',
  'Set',
  'Type',
];

/** Names an enumeration like most of its places; if that is taken, with the first owner before it. */
function namesOf(
  found: ReadonlyMap<string, readonly EnumerationPlace[]>,
  taken: Set<string>,
): Map<string, string> {
  const names = new Map<string, string>();
  const values = new Set<string>();
  const byCount = [...found].sort(([, one], [, other]) => other.length - one.length);
  for (const [key, places] of byCount) {
    const own = key.split('|');
    if (places.length < 2 || own.some((value) => values.has(value))) continue;
    for (const value of own) values.add(value);
    const [first] = places;
    const usual = pascal(mostCommon(places.map(({ name }) => name)));
    const candidates = [usual, `${pascal(first?.owner ?? '')}${usual}`];
    const name = candidates.find((one) => !taken.has(one));
    if (!name) throw new Error(`No name is left for an enumeration of ${candidates.join(', ')}`);
    taken.add(name);
    names.set(key, name);
  }
  return names;
}

function mostCommon(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? '';
}

const pascal = (text: string) =>
  text.replace(/(?:^|[_-])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function withReferences(json: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(json)) return json.map((one: Json) => withReferences(one, names));
  if (!isJsonObject(json)) return json;
  const name = isEnumeration(json) && names.get(keyOf(json));
  if (name) {
    const { type: _, enum: __, ...about } = json;
    const reference = { $ref: `#/components/schemas/${name}` };
    // OpenAPI 3.0 ignores keywords beside a reference.
    return Object.keys(about).length > 0 ? { ...about, allOf: [reference] } : reference;
  }
  return Object.fromEntries(
    Object.entries(json).map(([keyword, inner]) => [
      keyword,
      /^examples?$/.test(keyword) ? inner : withReferences(inner, names),
    ]),
  );
}
