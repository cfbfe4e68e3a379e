/**
 * Query parameters. One schema converts a caller's value (typed, or the text of a query string) to the text that the
 * interface expects; the parameter's type, check and sent form are derived from it.
 */

import * as v from 'valibot';
import { isDay } from './schemas.ts';

export interface Parameter<S extends v.GenericSchema<unknown, string> = v.GenericSchema<unknown, string>> {
  readonly schema: S;
  readonly required: boolean;
  readonly description: string;
  /** Allowed values in words, for a refused caller. */
  readonly allowed: string;
  /** JSON Schema of a sent value, or of each value in a list. */
  readonly json: JsonForm;
  /** Set when several values travel in one text. */
  readonly list?: { readonly separator: string; readonly maxItems?: number };
}

export interface JsonForm {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Described {
  readonly description: string;
}

/** Makes a parameter optional. */
/* @__NO_SIDE_EFFECTS__ */
export function optional<P extends Parameter>(
  parameter: P,
): Omit<P, 'required'> & { readonly required: false } {
  return { ...parameter, required: false };
}

/** A parameter with one of `values`. */
/* @__NO_SIDE_EFFECTS__ */
export function choice<const V extends readonly string[]>(values: V, { description }: Described) {
  return {
    schema: v.picklist(values),
    required: true,
    description,
    allowed: `one of ${values.join(', ')}`,
    json: { type: 'string', enum: values },
  } as const satisfies Parameter;
}

/**
 * A flag, `true` or `false` (interface: lower case). Existing clients write `True` and `False`; these are accepted, and
 * the interface's form is sent.
 */
/* @__NO_SIDE_EFFECTS__ */
export function flag({ description }: Described) {
  return {
    schema: v.pipe(
      v.union([v.boolean(), v.picklist(['true', 'false', 'True', 'False'])]),
      v.transform((value) => String(value).toLowerCase() as 'true' | 'false'),
    ),
    required: true,
    description,
    allowed: 'true or false',
    json: { type: 'boolean' },
  } as const satisfies Parameter;
}

/** A whole number within bounds; sent in digits without leading zeros. */
/* @__NO_SIDE_EFFECTS__ */
export function whole({ description, minimum, maximum }: Described & { minimum: number; maximum: number }) {
  return {
    schema: v.pipe(
      v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))]),
      v.integer(),
      v.minValue(minimum),
      v.maxValue(maximum),
      v.transform(String),
    ),
    required: true,
    description,
    allowed: `a whole number from ${minimum} to ${maximum}`,
    json: { type: 'integer', minimum, maximum },
  } as const satisfies Parameter;
}

/** The last millisecond of the year 9999. */
const farFuture = 253_402_300_799_999;

/** A moment as Unix time in milliseconds; a typed caller may also pass a Date. */
/* @__NO_SIDE_EFFECTS__ */
export function epoch({ description }: Described) {
  return {
    schema: v.pipe(
      v.union([
        v.number(),
        v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number)),
        v.pipe(v.date(), v.transform(Number)),
      ]),
      v.integer(),
      v.minValue(0),
      v.maxValue(farFuture),
      v.transform(String),
    ),
    required: true,
    description,
    allowed: 'Unix time in milliseconds, in digits',
    json: { type: 'integer', format: 'int64', minimum: 0, maximum: farFuture },
  } as const satisfies Parameter;
}

// The pattern does not check whether the day exists.
const instantPattern = /^2\d{3}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/;

/** A moment as ISO 8601 text in UTC, sent to the millisecond; a typed caller may also pass a Date. */
/* @__NO_SIDE_EFFECTS__ */
export function instant({ description }: Described) {
  return {
    schema: v.pipe(
      v.union([
        v.pipe(v.date(), v.transform(Number)),
        v.pipe(
          v.string(),
          v.regex(instantPattern),
          v.check((text) => isDay(text.slice(0, 10))),
          v.transform(Date.parse),
        ),
      ]),
      // A Date may be invalid, or lie in years that are not written with four digits.
      v.integer(),
      v.minValue(Date.UTC(2000, 0, 1)),
      v.maxValue(Date.UTC(3000, 0, 1) - 1),
      v.transform((time) => new Date(time).toISOString()),
    ),
    required: true,
    description,
    allowed: 'a moment from the year 2000 on, like 2026-10-21T13:30:00.000Z',
    json: { type: 'string', format: 'date-time', pattern: instantPattern.source },
  } as const satisfies Parameter;
}

const dayPattern = /^\d{4}-\d\d-\d\d$/;

/** A calendar day, yyyy-MM-dd, that exists. */
/* @__NO_SIDE_EFFECTS__ */
export function day({ description }: Described) {
  return {
    schema: v.pipe(v.string(), v.regex(dayPattern), v.check(isDay)),
    required: true,
    description,
    allowed: 'a calendar day, yyyy-MM-dd',
    json: { type: 'string', format: 'date', pattern: dayPattern.source },
  } as const satisfies Parameter;
}

const decimalPattern = /^\d{1,15}(\.\d{1,10})?$/;

/** A number that is not negative, as decimal text: never a binary number, which would lose digits. */
/* @__NO_SIDE_EFFECTS__ */
export function decimal({ description }: Described) {
  return {
    schema: v.pipe(v.string(), v.regex(decimalPattern)),
    required: true,
    description,
    allowed: 'a decimal number like 240.5, as text',
    json: { type: 'string', pattern: decimalPattern.source },
  } as const satisfies Parameter;
}

/** Printable ASCII, without a space at either end, and without &, which the signature cannot carry in a query. */
export const plain = /^[!-%'-~]([ -%'-~]*[!-%'-~])?$/;
/** Item of a list: `plain`, but without the comma, which separates items. */
const plainItem = /^[!-%'-+\--~]([ -%'-+\--~]*[!-%'-+\--~])?$/;

const separator = ',';

/** Several values in one text, separated by commas; a typed caller may also pass an array. */
/* @__NO_SIDE_EFFECTS__ */
export function list({ description, maxItems }: Described & { maxItems?: number }) {
  return {
    schema: listSchema(v.pipe(v.string(), v.regex(plainItem)), maxItems),
    required: true,
    description,
    allowed: `${maxItems === undefined ? 'values' : `1 to ${maxItems} values`} separated by commas, none empty`,
    json: { type: 'string', pattern: plainItem.source },
    list: maxItems === undefined ? { separator } : { separator, maxItems },
  } as const satisfies Parameter;
}

/** Several of `values` in one text, separated by commas; a typed caller may also pass an array. */
/* @__NO_SIDE_EFFECTS__ */
export function choices<const V extends readonly string[]>(values: V, { description }: Described) {
  return {
    schema: listSchema(v.picklist(values)),
    required: true,
    description,
    allowed: `one or more of ${values.join(', ')}, separated by commas`,
    json: { type: 'string', enum: values },
    list: { separator },
  } as const satisfies Parameter;
}

/* @__NO_SIDE_EFFECTS__ */
function listSchema<const S extends v.GenericSchema<string, string>>(item: S, maxItems = Infinity) {
  const items = v.pipe(v.array(item), v.minLength(1), v.maxLength(maxItems), v.readonly());
  return v.pipe(
    v.union([
      v.pipe(
        v.string(),
        v.transform((text): unknown => text.split(separator)),
        items,
      ),
      items,
    ]),
    v.transform((values) => values.join(separator)),
  );
}

/** One value without further rules, such as an id. */
/* @__NO_SIDE_EFFECTS__ */
export function text({ description, maxLength }: Described & { maxLength: number }) {
  return {
    schema: v.pipe(v.string(), v.maxLength(maxLength), v.regex(plain)),
    required: true,
    description,
    allowed: `1 to ${maxLength} printable ASCII characters, no & and no space at an end`,
    json: { type: 'string', pattern: plain.source, maxLength },
  } as const satisfies Parameter;
}
