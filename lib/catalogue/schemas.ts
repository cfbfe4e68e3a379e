/** Schemas that several operations share. */

import * as v from 'valibot';

/**
 * A decimal number in a JSON string, sometimes in scientific notation (`1.78E8`). It stays text: the interface sends it so
 * to preserve precision (section "What the service does", rule 6). For requests, and for members of answers that the
 * interface text promises.
 */
export const decimalText = v.pipe(
  v.string(),
  v.regex(/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/, 'a decimal number in a string'),
  v.metadata({ format: 'decimal' }),
);

/**
 * A decimal number in an answer. The upstream writes `""` or `null` for a number that it does not report, such as the
 * greeks of an option outside market hours. Both mean absent: the client's `reported` turns them into `undefined`.
 */
export const decimal = v.nullable(
  v.pipe(
    v.string(),
    v.regex(/^([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)?$/, 'a decimal number in a string, or none'),
    v.metadata({ format: 'decimal' }),
  ),
);

/** Unix time in milliseconds, UTC (interface, section "What the service does", rule 5). */
export const epochMilliseconds = v.pipe(v.number(), v.safeInteger(), v.metadata({ format: 'int64' }));

/** Unix time in milliseconds in a request. */
export const requestedMilliseconds = v.pipe(
  v.number(),
  v.integer('a whole number'),
  v.minValue(0),
  v.maxValue(253_402_300_799_999),
  v.metadata({ format: 'int64' }),
);

/**
 * A moment on whose form the sources disagree. By the interface's rule it is an integer of milliseconds, which is the form
 * to expect. Live answers also have milliseconds in a text (ticks) and ISO 8601 text with `+0000` (bars).
 */
export const moment = v.union([epochMilliseconds, v.string()]);

/** A moment that the upstream may not have, such as the time at which an open order was filled. */
export const momentOrNone = v.union([epochMilliseconds, v.string(), v.null()]);

/** A moment under a name that ends in `_at`: ISO 8601 text on the wire, although the rule is an integer. */
export const isoMoment = v.union([v.string(), epochMilliseconds]);

export const isoMomentOrNone = v.union([v.string(), epochMilliseconds, v.null()]);

/** A small whole number (a year, a rank, a place) that some sources write as text, or none. */
export const ordinal = v.union([v.pipe(v.number(), v.integer()), v.string(), v.null()]);

export const integer = v.pipe(v.number(), v.integer('a whole number'));

/** A calendar day, yyyy-MM-dd. */
export const day = v.pipe(v.string(), v.isoDate('a calendar day, yyyy-MM-dd'));

/** Whether yyyy-MM-dd names a day that exists. */
export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** A calendar day in a request: it must exist. */
export const requestedDay = v.pipe(day, v.check(isDay, 'a calendar day that exists, yyyy-MM-dd'));

/** A calendar day without dashes, yyyyMMdd. */
export const compactDay = v.pipe(v.string(), v.regex(/^\d{8}$/, 'a calendar day, yyyyMMdd'));

export const url = v.pipe(v.string(), v.metadata({ format: 'uri' }));

/** A text that is not empty, as the upstream's required texts are. */
export const text = v.pipe(v.string(), v.nonEmpty());

/** The cursor of the next page; absent on the last one. */
export const nextPage = v.optional(
  v.pipe(v.string(), v.description('Cursor of the next page; absent on the last.')),
);

/**
 * A member of a body that may be left out. `null` counts as left out: clients of the interface send it so, and the live
 * upstream accepts it. The caller's bytes are sent on unchanged, with the `null` in them.
 */
/* @__NO_SIDE_EFFECTS__ */
export function omittable<const S extends v.GenericSchema>(schema: S) {
  return v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  );
}

type SchemaEntries = Readonly<Record<string, v.GenericSchema>>;

/** Makes each member omittable. */
/* @__NO_SIDE_EFFECTS__ */
export function eachOmittable<const E extends SchemaEntries>(entries: E) {
  return mapEntries(entries, omittable) as { [K in keyof E]: ReturnType<typeof omittable<E[K]>> };
}

/** Makes each member optional, for an answer. */
/* @__NO_SIDE_EFFECTS__ */
export function eachOptional<const E extends SchemaEntries>(entries: E) {
  return mapEntries(entries, (schema) => v.optional(schema)) as {
    [K in keyof E]: v.OptionalSchema<E[K], undefined>;
  };
}

const mapEntries = (entries: SchemaEntries, wrap: (schema: v.GenericSchema) => v.GenericSchema) =>
  Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, wrap(schema)]));

type Merged<A, B> = { [K in keyof A | keyof B]: K extends keyof B ? B[K] : K extends keyof A ? A[K] : never };

/**
 * Joins the members of two objects, as `{ ...a, ...b }` does. Bundlers take a spread outside of a function for a side
 * effect, and keep every entry that contains one.
 */
/* @__NO_SIDE_EFFECTS__ */
export function joinMembers<A extends object, B extends object>(a: A, b: B): Merged<A, B> {
  return { ...a, ...b } as Merged<A, B>;
}
