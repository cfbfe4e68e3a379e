/**
 * Query parameters. Each is one schema that takes what a caller may write (a typed value, or the text of a
 * query string) and gives the text that the interface wants; type, check and sent form come from it.
 */

import * as v from 'valibot';

export interface Parameter<S extends v.GenericSchema<unknown, string> = v.GenericSchema<unknown, string>> {
  readonly schema: S;
  readonly required: boolean;
  readonly description: string;
  /** What is allowed, for a person whose value was refused. */
  readonly allowed: string;
  /** Set when several values travel in one text. */
  readonly list?: { readonly separator: string; readonly maxItems?: number };
}

interface Facts {
  readonly description: string;
}

/** The same parameter, but it may be left out. */
export function optional<P extends Parameter>(parameter: P): P & { readonly required: false } {
  return { ...parameter, required: false };
}

/** One of the given values. */
export function choice<const V extends readonly string[]>(values: V, { description }: Facts) {
  return {
    schema: v.picklist(values),
    required: true,
    description,
    allowed: `one of ${values.join(', ')}`,
  } as const satisfies Parameter;
}

/**
 * `true` or `false` (interface: lower case). Existing clients write `True` and `False`; both are taken, and
 * the interface's form is sent.
 */
export function flag({ description }: Facts) {
  return {
    schema: v.pipe(
      v.union([v.boolean(), v.picklist(['true', 'false', 'True', 'False'])]),
      v.transform((value) => String(value).toLowerCase() as 'true' | 'false'),
    ),
    required: true,
    description,
    allowed: 'true or false',
  } as const satisfies Parameter;
}

const separator = ',';

/** Several values in one text, separated by commas; a typed caller may also give an array. */
export function list({ description, maxItems }: Facts & { maxItems?: number }) {
  return {
    schema: v.pipe(
      v.union([v.string(), v.pipe(v.array(v.string()), v.readonly())]),
      v.transform((value) => (typeof value === 'string' ? value : value.join(separator))),
      v.check((text) => {
        const items = text.split(separator);
        return items.length <= (maxItems ?? Infinity) && items.every(isPlainValue);
      }),
    ),
    required: true,
    description,
    allowed: `${maxItems === undefined ? 'values' : `1 to ${maxItems} values`} separated by commas, none empty`,
    list: maxItems === undefined ? { separator } : { separator, maxItems },
  } as const satisfies Parameter;
}

/** One value without further rules, such as an id. */
export function text({ description, maxLength }: Facts & { maxLength: number }) {
  return {
    schema: v.pipe(v.string(), v.maxLength(maxLength), v.check(isPlainValue)),
    required: true,
    description,
    allowed: `1 to ${maxLength} characters, none of them a control character`,
  } as const satisfies Parameter;
}

/** Something to read, and nothing that only a machine would see. */
function isPlainValue(text: string): boolean {
  return text.trim() !== '' && !/\p{Cc}/u.test(text);
}
