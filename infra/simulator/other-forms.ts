/**
 * Converts an answer to the other of two forms where sources disagree on one; the catalogue's schema has a union there. A
 * time in milliseconds becomes ISO 8601 text and the reverse, a list becomes text, or stands in a member `result`.
 */

import type { GenericSchema } from 'valibot';
import type { Schema } from './catalogue-schema.ts';
import { offsetText } from './numbers-and-times.ts';

/** @param schema the operation's `response`; the value fits it before and after */
export function inOtherForm({ response }: { readonly response: GenericSchema }, value: unknown): unknown {
  return convert(response as Schema, value);
}

function convert(schema: Schema, value: unknown): unknown {
  const { type, wrapped, options, item, entries, value: each } = schema;
  if (value === null || value === undefined) return value;
  if (wrapped) return convert(wrapped, value);
  if (type === 'union') return convertUnion(options as readonly Schema[], value);
  if (Array.isArray(value)) return item ? value.map((one: unknown) => convert(item, one)) : value;
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const member = entries?.[name] ?? each;
      return [name, member ? convert(member, one) : one];
    }),
  );
}

function convertUnion(options: readonly Schema[], value: unknown): unknown {
  const typeOf = (one: unknown) => (Array.isArray(one) ? 'array' : typeof one);
  const own = options.find(({ type }) => valueTypes[type] === typeOf(value));
  const within = own ? convert(own, value) : value;
  for (const { type, entries } of options) {
    const other = valueTypes[type];
    if (other === undefined || other === typeOf(value)) continue;
    const form = conversions[`${typeOf(value)} to ${other}`]?.(within, Object.keys(entries ?? {}));
    if (form !== undefined) return form;
  }
  return within;
}

/** JavaScript type of a schema's values. */
const valueTypes: Readonly<Record<string, string>> = {
  number: 'number',
  string: 'string',
  boolean: 'boolean',
  array: 'array',
  object: 'object',
  loose_object: 'object',
};

/** Smallest number that counts as a moment in milliseconds, of the year 1973 or later. */
const firstMoment = 100_000_000_000;

/** Conversions between types; undefined for a value that has no such form. */
const conversions: Readonly<Record<string, (value: unknown, members: readonly string[]) => unknown>> = {
  'number to string': (value) => (Number(value) >= firstMoment ? offsetText(Number(value)) : String(value)),
  'string to number': (value) => {
    const number = /^\d+$/.test(String(value)) ? Number(value) : Date.parse(String(value));
    return Number.isSafeInteger(number) ? number : undefined;
  },
  'array to string': String,
  'array to object': wrapInMember,
  'boolean to object': wrapInMember,
};

function wrapInMember(value: unknown, [member]: readonly string[]): unknown {
  return member === undefined ? undefined : { [member]: value };
}
