/** Schemas that several operations share. */

import * as v from 'valibot';

/**
 * A decimal number in a JSON string, sometimes in scientific notation (`1.78E8`). It stays text: the
 * interface sends it so to preserve precision (section "What the service does", rule 6).
 */
export const decimal = v.pipe(
  v.string(),
  v.regex(/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/, 'a decimal number in a string'),
  v.metadata({ format: 'decimal' }),
);

/** Unix time in milliseconds, UTC (interface, section "What the service does", rule 5). */
export const epochMilliseconds = v.pipe(v.number(), v.integer(), v.metadata({ format: 'int64' }));

/** A calendar day, yyyy-MM-dd. */
export const day = v.pipe(v.string(), v.isoDate('a calendar day, yyyy-MM-dd'));

/** A text that says something: the upstream's required texts are never empty. */
export const text = v.pipe(v.string(), v.nonEmpty());
