/** Takes the catalogue's schemas apart. */

import type * as v from 'valibot';

/** Finds the schema at the start of a pipe; the descriptions and rules after it do not change the type. */
export const baseOf = (schema: v.GenericSchema): v.GenericSchema =>
  'pipe' in schema ? baseOf((schema.pipe as readonly [v.GenericSchema])[0]) : schema;

export const isObject = (
  schema: v.GenericSchema,
): schema is v.GenericSchema & { readonly entries: Readonly<Record<string, v.GenericSchema>> } =>
  'entries' in schema;

export const isArray = (
  schema: v.GenericSchema,
): schema is v.GenericSchema & { readonly item: v.GenericSchema } => schema.type === 'array';

export const isRecord = (
  schema: v.GenericSchema,
): schema is v.GenericSchema & { readonly value: v.GenericSchema } => schema.type === 'record';

export const isUnion = (
  schema: v.GenericSchema,
): schema is v.GenericSchema & { readonly options: readonly v.GenericSchema[] } => schema.type === 'union';

export const isWrapped = (
  schema: v.GenericSchema,
): schema is v.GenericSchema & { readonly wrapped: v.GenericSchema } => 'wrapped' in schema;

/** Recognises a list that may be absent, too. */
export function isList(schema: v.GenericSchema): boolean {
  const base = baseOf(schema);
  return isWrapped(base) ? isList(base.wrapped) : isArray(base) || isRecord(base);
}
