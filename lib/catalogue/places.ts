/** Finds the part of a schema that describes a part of a value, as far as the schema library shows its parts. */

import * as v from 'valibot';

interface PipedSchema extends v.GenericSchema {
  readonly pipe?: readonly [PipedSchema, ...unknown[]];
  readonly wrapped?: PipedSchema;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
  readonly type: string;
  readonly requirement?: unknown;
}

/** Unwraps a schema from its pipe and from optional. */
function unwrapped(schema: PipedSchema): PipedSchema {
  const inner = schema.pipe?.[0] ?? schema.wrapped;
  return inner ? unwrapped(inner) : schema;
}

/** Finds a member's schema; undefined if the schema names no such member, or is a union. */
export function memberOf(schema: v.GenericSchema, name: string): v.GenericSchema | undefined {
  const { entries } = unwrapped(schema);
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** Names of an object's members; none if the schema is not of an object. */
export const memberNames = (schema: v.GenericSchema): readonly string[] =>
  Object.keys(unwrapped(schema).entries ?? {});

/** Schema of a list's items. */
export const itemOf = (schema: v.GenericSchema): v.GenericSchema | undefined => unwrapped(schema).item;

/** Largest number of items in a list, or of characters in a text. */
export function maxLengthOf({ type, requirement, pipe, wrapped }: PipedSchema): number | undefined {
  if (type === 'max_length') return requirement as number;
  for (const part of pipe ?? (wrapped ? [wrapped] : [])) {
    const max = maxLengthOf(part as PipedSchema);
    if (max !== undefined) return max;
  }
  return undefined;
}

/** Assumed bounds of a text and of a list whose schema sets none. */
const assumedBounds = { bytes: 128, items: 100 };

/** Estimates the largest compact JSON text of a value, in bytes; texts and lists without a bound get the assumed one. */
export function largestTextOf(schema: v.GenericSchema): number {
  const { entries, item } = unwrapped(schema);
  const max = maxLengthOf(schema);
  if (item) return 2 + (max ?? assumedBounds.items) * (largestTextOf(item) + 1);
  if (!entries) return max === undefined ? assumedBounds.bytes : 4 * max + 2;
  const members = Object.entries(entries).map(([name, member]) => name.length + 4 + largestTextOf(member));
  return 2 + members.reduce((sum, bytes) => sum + bytes, 0);
}

/** Finds the part of a schema that describes the value at a path. */
export const partAt = (schema: v.GenericSchema, path: readonly { readonly key: unknown }[]) =>
  path.reduce<v.GenericSchema | undefined>(
    (part, { key }) => part && (typeof key === 'number' ? itemOf(part) : memberOf(part, String(key))),
    schema,
  );

/** Whether a schema is for a decimal number in a string: one of those in `schemas.ts`, or derived from one. */
export function isDecimal(schema: v.GenericSchema): boolean {
  const { pipe, wrapped }: PipedSchema = schema;
  const inner = pipe?.[0] ?? wrapped;
  return v.getMetadata(schema as v.GenericSchema).format === 'decimal' || (!!inner && isDecimal(inner));
}
