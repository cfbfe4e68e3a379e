/** Which part of a schema describes which part of a value, as far as the library shows what a schema is made of. */

import * as v from 'valibot';

interface Parts extends v.GenericSchema {
  readonly pipe?: readonly [Parts, ...unknown[]];
  readonly wrapped?: Parts;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
}

/** Without the rules of a pipe, and of a value that may be absent. */
function bare(schema: Parts): Parts {
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

/** The part of a schema that describes what stands there in a value. */
export const partAt = (schema: v.GenericSchema, path: readonly { readonly key: unknown }[]) =>
  path.reduce<v.GenericSchema | undefined>(
    (part, { key }) => part && (typeof key === 'number' ? itemOf(part) : memberOf(part, String(key))),
    schema,
  );

/** Whether it is a decimal number in a string: one of `schemas.ts`, or made of it. */
export function isDecimal(schema: v.GenericSchema): boolean {
  const { pipe, wrapped }: Parts = schema;
  const inner = pipe?.[0] ?? wrapped;
  return v.getMetadata(schema as v.GenericSchema).format === 'decimal' || (!!inner && isDecimal(inner));
}
