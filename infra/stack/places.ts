/** Walks the schema of a configuration, for sentences, pages and tests: it says which values are at which path. */

import type * as v from 'valibot';

/** The parts of a valibot schema that lead to others, or say what a value may be. */
export interface Walkable extends v.GenericSchema {
  readonly entries?: Readonly<Record<string, Walkable>>;
  readonly wrapped?: Walkable;
  /** Values of a record. */
  readonly value?: Walkable;
  /** Chooses the schema by the given value. */
  readonly getter?: (given: unknown) => Walkable;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly pipe?: readonly { readonly type: string; readonly requirement?: unknown }[];
}

export interface Place {
  /** Names that the deployer chooses, such as a plan's, are `*`. */
  readonly path: readonly string[];
  readonly schema: Walkable;
}

/** Every value that is no object with members. A value that may be of several kinds is there once for each. */
export function placesIn(schema: v.GenericSchema, path: readonly string[] = []): readonly Place[] {
  const { entries, wrapped, value, getter, type } = schema as Walkable;
  if (wrapped) return placesIn(wrapped, path);
  if (type === 'lazy' && getter) return kinds.flatMap((given) => placesIn(getter(given), path));
  if (type === 'record' && value) return placesIn(value, [...path, '*']);
  if (!entries) return [{ path, schema: schema as Walkable }];
  return Object.entries(entries).flatMap(([name, one]) => placesIn(one, [...path, name]));
}

/** One of each kind that a schema is chosen by. */
const kinds = [0, 'x', {}, []];

/** The members that an object at the path may have; none where any name is one. */
export function membersAt(schema: v.GenericSchema, path: readonly string[]): readonly string[] {
  const { entries, value } = bare(schema as Walkable);
  const [name, ...inner] = path;
  if (name === undefined) return Object.keys(entries ?? {});
  const member = entries?.[name] ?? value;
  return member ? membersAt(member, inner) : [];
}

/** The schema that says which members an object has. */
function bare(schema: Walkable): Walkable {
  const inner = schema.wrapped ?? (schema.type === 'lazy' ? schema.getter?.({}) : undefined);
  return inner ? bare(inner) : schema;
}
