/** Which part of a schema describes which part of a value, as far as the library shows what a schema is made of. */

import * as v from 'valibot';

interface PipedSchema extends v.GenericSchema {
  readonly pipe?: readonly [PipedSchema, ...unknown[]];
  readonly wrapped?: PipedSchema;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
  readonly type: string;
  readonly requirement?: unknown;
}

/** Without the rules of a pipe, and of a value that may be absent. */
function bare(schema: PipedSchema): PipedSchema {
  const inner = schema.pipe?.[0] ?? schema.wrapped;
  return inner ? bare(inner) : schema;
}

/** Undefined where the schema names no such member, or is a union. */
export function memberOf(schema: v.GenericSchema, name: string): v.GenericSchema | undefined {
  const { entries } = bare(schema);
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** Of an object's members; none where the schema is of no object. */
export const memberNames = (schema: v.GenericSchema): readonly string[] =>
  Object.keys(bare(schema).entries ?? {});

/** The schema of a list's items. */
export const itemOf = (schema: v.GenericSchema): v.GenericSchema | undefined => bare(schema).item;

/** How many items a list, or characters a text, may have at most. */
export function maxLengthOf({ type, requirement, pipe, wrapped }: PipedSchema): number | undefined {
  if (type === 'max_length') return requirement as number;
  for (const part of pipe ?? (wrapped ? [wrapped] : [])) {
    const max = maxLengthOf(part as PipedSchema);
    if (max !== undefined) return max;
  }
  return undefined;
}

/** Assumed of a text and of a list whose schema sets no bound. */
const assumed = { bytes: 128, items: 100 };

/** How long the compact JSON text of a value is at most, in bytes, where each text without a bound is of a usual length. */
export function largestTextOf(schema: v.GenericSchema): number {
  const { entries, item } = bare(schema);
  const max = maxLengthOf(schema);
  if (item) return 2 + (max ?? assumed.items) * (largestTextOf(item) + 1);
  if (!entries) return max === undefined ? assumed.bytes : 4 * max + 2;
  const members = Object.entries(entries).map(([name, member]) => name.length + 4 + largestTextOf(member));
  return 2 + members.reduce((sum, bytes) => sum + bytes, 0);
}

/** The part of a schema that describes what stands there in a value. */
export const partAt = (schema: v.GenericSchema, path: readonly { readonly key: unknown }[]) =>
  path.reduce<v.GenericSchema | undefined>(
    (part, { key }) => part && (typeof key === 'number' ? itemOf(part) : memberOf(part, String(key))),
    schema,
  );

/** Whether it is a decimal number in a string: one of `schemas.ts`, or made of it. */
export function isDecimal(schema: v.GenericSchema): boolean {
  const { pipe, wrapped }: PipedSchema = schema;
  const inner = pipe?.[0] ?? wrapped;
  return v.getMetadata(schema as v.GenericSchema).format === 'decimal' || (!!inner && isDecimal(inner));
}
