/** Checks query and body of a call against its catalogue entry. */

import * as v from 'valibot';
import type { Operation } from '../../lib/catalogue/index.ts';
import type { Field } from './canonical.ts';
import { type Rejection, wrongParameter, wrongValue } from './refusal.ts';

export interface Parameters {
  readonly ok: true;
  /** Checked parameters in the form that the interface requires, and any others that the operation allows. */
  readonly query: Readonly<Record<string, string>>;
  /** Parsed body; undefined for an operation without one. */
  readonly body: unknown;
}

/** Body of an operation as its behaviour receives it. */
export type BodyIn<O extends { readonly body: v.GenericSchema }> = WithoutNulls<v.InferOutput<O['body']>>;

type WithoutNulls<T> = T extends null
  ? never
  : T extends readonly (infer E)[]
    ? readonly WithoutNulls<E>[]
    : T extends object
      ? { [K in keyof T]: WithoutNulls<T[K]> }
      : T;

/** Checks query and body; `body` has passed the body rules, so it is empty or JSON. */
export function checkParameters(
  operation: Operation,
  pairs: readonly Field[],
  body: Uint8Array,
): Parameters | Rejection {
  const query = checkQuery(operation, pairs);
  if (!(query instanceof Map)) return query;
  const text = Buffer.from(body).toString('utf8');
  const values = Object.fromEntries(query);
  if (!operation.body) {
    // Existing clients send {} with a POST that has no fields.
    return text === '' || text === '{}'
      ? { ok: true, query: values, body: undefined }
      : wrongParameter(operation, 'body');
  }
  if (text === '') return wrongParameter(operation, 'body');
  const checked = v.safeParse(operation.body, JSON.parse(text, withoutNulls));
  if (checked.success) return { ok: true, query: values, body: checked.output };
  const [issue] = checked.issues;
  const name = v.getDotPath(issue) ?? 'body';
  return issue.input === undefined ? wrongParameter(operation, name) : wrongValue(operation, name);
}

/** Drops members that are `null`, because clients were seen to rely on it. Elements of lists stay. */
function withoutNulls(this: unknown, _name: string, value: unknown): unknown {
  return value === null && !Array.isArray(this) ? undefined : value;
}

function checkQuery(operation: Operation, pairs: readonly Field[]): Map<string, string> | Rejection {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    const parameter = Object.hasOwn(operation.query, name) ? operation.query[name] : undefined;
    if (!parameter) {
      if (!operation.anyQuery) return wrongParameter(operation, name);
      values.set(name, value);
      continue;
    }
    if (values.has(name)) return wrongParameter(operation, name);
    const checked = v.safeParse(parameter.schema, value);
    if (!checked.success) return wrongValue(operation, name);
    values.set(name, checked.output);
  }
  for (const [name, parameter] of Object.entries(operation.query)) {
    if (parameter.required && !values.has(name)) return wrongParameter(operation, name);
  }
  return values;
}
