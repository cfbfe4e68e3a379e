/** The members of an example body, and copies of it with null in some of them. */

import type * as v from 'valibot';
import { baseOf, isArray, isObject, isWrapped } from '../../infra/open-api/schema-parts.ts';

type Keys = readonly (string | number)[];

export interface Member {
  /** The way to it in the example. */
  readonly at: Keys;
  readonly mayBeLeftOut: boolean;
}

/** The members that the schema names, of every object in the value. */
export function* membersOf(schema: v.GenericSchema, value: unknown, at: Keys = []): Generator<Member> {
  const base = baseOf(schema);
  if (isWrapped(base)) yield* membersOf(base.wrapped, value, at);
  else if (isArray(base))
    for (const [index, item] of ((value ?? []) as unknown[]).entries())
      yield* membersOf(base.item, item, [...at, index]);
  else if (isObject(base) && value)
    for (const [name, inner] of Object.entries(base.entries)) {
      yield { at: [...at, name], mayBeLeftOut: isWrapped(baseOf(inner)) };
      yield* membersOf(inner, (value as Record<string, unknown>)[name], [...at, name]);
    }
}

/** A copy of the value, in which these members are null; what is in a member that is null already stays so. */
export function withNull(value: unknown, members: readonly Member[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const { at } of members) {
    let place = copy as Record<string | number, unknown> | null;
    for (const key of at.slice(0, -1)) place = (place?.[key] ?? null) as typeof place;
    if (place) place[at.at(-1)!] = null;
  }
  return copy;
}
