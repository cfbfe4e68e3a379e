/**
 * What the parts of responses and bodies are called: the types that a generated client has. A schema has one
 * name wherever it is used. Its own title comes first; without one the first place in the catalogue where it
 * stands names it:
 *
 * - `PlaceOrderBody`, `GetAccountBalanceAnswer`: the whole of a body or a response. Not `…Response`, which several
 *   generators make a type of their own of;
 * - `ListAccountsItem`: a record of a response that is a list, or a page of one;
 * - `ListAccountPositionsLeg`, `PlaceOrderBodyNewOrder`: an object in there, by the members that lead to it.
 *
 * Unions that several operations share are called what `schemas.ts` exports them as: a generated client has
 * one type for "a moment" then, instead of one for each member that holds one. Texts and numbers stay where
 * they are.
 */

import * as v from 'valibot';
import { operations as catalogue, type Operation } from '../../lib/catalogue/index.ts';
import * as shared from '../../lib/catalogue/schemas.ts';
import { problem, refusal } from './problem-schema.ts';
import { baseOf, isArray, isList, isObject, isRecord, isUnion, isWrapped } from './schema-parts.ts';

export type SchemaNames = ReadonlyMap<v.GenericSchema, string>;

/** Names do not depend on which operations a document has: the whole catalogue is named, then what is beside it. */
export function namesFor(operations: readonly Operation[]): SchemaNames {
  const names = new Map<v.GenericSchema, string>();
  for (const [name, schema] of Object.entries(shared))
    if ('kind' in schema && schema.type === 'union') names.set(schema, pascal(name));
  walk(refusal, itself('Refusal'), names);
  walk(problem, itself('Problem'), names);
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
  /** What an object is called that stands here. */
  readonly own: string;
  /** What the names of the objects in it begin with. */
  readonly within: string;
  /** At the top of a response: the name of its records, and the member that holds them, if one does. */
  readonly record?: { readonly name: string; readonly in: string | undefined };
}

function walk(schema: v.GenericSchema, place: SchemaPlace, names: Map<v.GenericSchema, string>): void {
  const base = baseOf(schema);
  if (names.has(base)) return;
  const title = v.getTitle(schema);
  if (isObject(base)) {
    const { own, within, record } = place;
    name(base, title ?? own, names);
    const prefix = title ?? within;
    for (const [member, inner] of Object.entries(base.entries)) {
      const nested = `${prefix}${pascal(isList(inner) ? singular(member) : member)}`;
      walk(inner, member === record?.in ? itself(record.name, prefix) : itself(nested), names);
    }
  } else if (isArray(base)) {
    walk(base.item, place.record ? itself(place.record.name, place.within) : place, names);
  } else if (isRecord(base)) {
    walk(base.value, place, names);
  } else if (isUnion(base)) {
    if (title) name(base, title, names);
    for (const option of base.options) walk(option, place, names);
  } else if (isWrapped(base)) {
    walk(base.wrapped, place, names);
  }
}

const itself = (own: string, within = own): SchemaPlace => ({ own, within });

function name(schema: v.GenericSchema, text: string, names: Map<v.GenericSchema, string>): void {
  if ([...names.values()].includes(text))
    throw new Error(`Two schemas would be called ${text}: give one of them a title.`);
  names.set(schema, text);
}

const pascal = (text: string) =>
  text.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** `fees` is a list of what is called a fee. */
const singular = (text: string) => text.replace(/ies$/, 'y').replace(/([^su])s$/, '$1');
