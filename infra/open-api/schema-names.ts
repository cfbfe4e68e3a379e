/**
 * Names the schemas of responses and bodies; a generated client has its types by these names. A schema has one name
 * wherever it is used: its own title, or else a name from the first place in the catalogue where it stands:
 *
 * - `PlaceOrderBody`, `GetAccountBalanceAnswer`: the whole of a body or a response. A name like `…Response` would collide
 *   with a type that several generators make;
 * - `ListAccountsItem`: a record of a response that is a list, or a page of one;
 * - `ListAccountPositionsLeg`, `PlaceOrderBodyNewOrder`: an object in there, by the members that lead to it.
 *
 * Unions that several operations share are named after the export in `schemas.ts`: a generated client then has one type
 * for "a moment" instead of one for each member that holds one. Texts and numbers have no names.
 */

import * as v from 'valibot';
import { operations as catalogue, type Operation } from '../../lib/catalogue/index.ts';
import * as shared from '../../lib/catalogue/schemas.ts';
import { problem, refusal } from './problem-schema.ts';
import { baseOf, isArray, isList, isObject, isRecord, isUnion, isWrapped } from './schema-parts.ts';

export type SchemaNames = ReadonlyMap<v.GenericSchema, string>;

/** Names the whole catalogue first and other operations after it, so that names do not depend on a document's operations. */
export function namesFor(operations: readonly Operation[]): SchemaNames {
  const names = new Map<v.GenericSchema, string>();
  for (const [name, schema] of Object.entries(shared))
    if ('kind' in schema && schema.type === 'union') names.set(schema, pascal(name));
  walk(refusal, placeNamed('Refusal'), names);
  walk(problem, placeNamed('Problem'), names);
  for (const { id, body, response, paging } of new Set([...catalogue, ...operations])) {
    const operation = pascal(id);
    const inBody = `${operation}Body`;
    if (body) walk(body, { own: inBody, within: inBody }, names);
    walk(
      response,
      {
        own: `${operation}Answer`,
        within: operation,
        record: { name: `${operation}Item`, in: paging?.items },
      },
      names,
    );
  }
  return names;
}

interface SchemaPlace {
  /** Name of an object in this place. */
  readonly own: string;
  /** Prefix for the names of the objects within it. */
  readonly within: string;
  /** At the top of a response: the name of its records, and the member that holds them, if any. */
  readonly record?: { readonly name: string; readonly in: string | undefined };
}

function walk(schema: v.GenericSchema, place: SchemaPlace, names: Map<v.GenericSchema, string>): void {
  const base = baseOf(schema);
  if (names.has(base)) return;
  const title = v.getTitle(schema);
  if (isObject(base)) {
    const { own, within, record } = place;
    assignName(base, title ?? own, names);
    const prefix = title ?? within;
    for (const [member, inner] of Object.entries(base.entries)) {
      const nested = `${prefix}${pascal(isList(inner) ? singular(member) : member)}`;
      walk(inner, member === record?.in ? placeNamed(record.name, prefix) : placeNamed(nested), names);
    }
  } else if (isArray(base)) {
    walk(base.item, place.record ? placeNamed(place.record.name, place.within) : place, names);
  } else if (isRecord(base)) {
    walk(base.value, place, names);
  } else if (isUnion(base)) {
    if (title) assignName(base, title, names);
    for (const option of base.options) walk(option, place, names);
  } else if (isWrapped(base)) {
    walk(base.wrapped, place, names);
  }
}

const placeNamed = (own: string, within = own): SchemaPlace => ({ own, within });

function assignName(schema: v.GenericSchema, text: string, names: Map<v.GenericSchema, string>): void {
  if ([...names.values()].includes(text))
    throw new Error(`Two schemas would be called ${text}: give one of them a title.`);
  names.set(schema, text);
}

const pascal = (text: string) =>
  text.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Names one element of a list: a fee in `fees`. */
const singular = (text: string) => text.replace(/ies$/, 'y').replace(/([^su])s$/, '$1');
