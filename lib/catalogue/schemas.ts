/** Schemas that several operations share. */

import * as v from 'valibot';

/**
 * A decimal number in a JSON string, sometimes in scientific notation (`1.78E8`). It stays text: the interface sends
 * it so to preserve precision (section "What the service does", rule 6). For requests, and for what the interface text
 * promises in an answer.
 */
export const decimalText = v.pipe(
  v.string(),
  v.regex(/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/, 'a decimal number in a string'),
  v.metadata({ format: 'decimal' }),
);

/**
 * A decimal number of an answer. The upstream writes `""` or `null` for a number that it does not report, such as the
 * greeks of an option outside market hours. Both mean absent: the client's `reported` makes `undefined` of them.
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

/** The same in a request. */
export const requestedMilliseconds = v.pipe(
  v.number(),
  v.integer('a whole number'),
  v.minValue(0),
  v.maxValue(253_402_300_799_999),
  v.metadata({ format: 'int64' }),
);

/**
 * A moment whose form the sources disagree on: an integer of milliseconds by the interface's rule. Seen live are also
 * milliseconds in a text (ticks) and ISO 8601 text with `+0000` (bars). The form to expect is the first.
 */
export const moment = v.union([epochMilliseconds, v.string()]);

/** The same where the upstream may have none to report, such as the time at which an open order was filled. */
export const momentOrNone = v.union([epochMilliseconds, v.string(), v.null()]);

/** A moment under a name that ends in `_at`: ISO 8601 text on the wire, though the rule is an integer. */
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

/** The same in a request: a day that exists. */
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
 * A member of a body that may be left out. `null` counts as left out: clients of the interface send it so, and the
 * live upstream accepts it. What is sent on are the caller's bytes, with the `null` in them.
 */
/* @__NO_SIDE_EFFECTS__ */
export function omittable<const S extends v.GenericSchema>(schema: S) {
  return v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  );
}

type SchemaEntries = Readonly<Record<string, v.GenericSchema>>;

/** The same for each member. */
/* @__NO_SIDE_EFFECTS__ */
export function eachOmittable<const E extends SchemaEntries>(entries: E) {
  return each(entries, omittable) as { [K in keyof E]: ReturnType<typeof omittable<E[K]>> };
}

/** The same members in an answer, where each may be missing. */
/* @__NO_SIDE_EFFECTS__ */
export function eachOptional<const E extends SchemaEntries>(entries: E) {
  return each(entries, (schema) => v.optional(schema)) as {
    [K in keyof E]: v.OptionalSchema<E[K], undefined>;
  };
}

const each = (entries: SchemaEntries, wrap: (schema: v.GenericSchema) => v.GenericSchema) =>
  Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, wrap(schema)]));

type Merged<A, B> = { [K in keyof A | keyof B]: K extends keyof B ? B[K] : K extends keyof A ? A[K] : never };

/**
 * The members of both, as `{ ...a, ...b }` would have them. A spread that stands outside of a function counts
 * as a side effect, for which bundlers keep every entry that it stands in.
 */
/* @__NO_SIDE_EFFECTS__ */
export function joined<A extends object, B extends object>(a: A, b: B): Merged<A, B> {
  return { ...a, ...b } as Merged<A, B>;
}
