/** Checks query and body of a call against its catalogue entry. */

import * as v from 'valibot';
import type { Operation } from '../../lib/catalogue/index.ts';
import type { Pair } from './canonical.ts';
import { parameterError, type Refusal } from './refusal.ts';

export interface Arguments {
  readonly ok: true;
  /** Checked parameters in the form the interface wants, and any others that the operation allows. */
  readonly query: Readonly<Record<string, string>>;
  /** The parsed body; undefined for an operation that takes none. */
  readonly body: unknown;
}

/** `body` has passed the body rules, so it is empty or JSON. */
export function checkParameters(
  operation: Operation,
  pairs: readonly Pair[],
  body: Uint8Array,
): Arguments | Refusal {
  const query = checkQuery(operation, pairs);
  if (!(query instanceof Map)) return query;
  const text = Buffer.from(body).toString('utf8');
  const values = Object.fromEntries(query);
  if (!operation.body) {
    // Existing clients send {} with a POST that has no fields.
    return text === '' || text === '{}'
      ? { ok: true, query: values, body: undefined }
      : parameterError('body');
  }
  if (text === '') return parameterError('body');
  const checked = v.safeParse(operation.body, JSON.parse(text));
  if (!checked.success) return parameterError(v.getDotPath(checked.issues[0]) ?? 'body');
  return { ok: true, query: values, body: checked.output };
}

function checkQuery(operation: Operation, pairs: readonly Pair[]): Map<string, string> | Refusal {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    const parameter = Object.hasOwn(operation.query, name) ? operation.query[name] : undefined;
    if (!parameter) {
      if (!operation.anyQuery) return parameterError(name);
      values.set(name, value);
      continue;
    }
    if (values.has(name)) return parameterError(name);
    const checked = v.safeParse(parameter.schema, value);
    if (!checked.success) return parameterError(name);
    values.set(name, checked.output);
  }
  for (const [name, parameter] of Object.entries(operation.query)) {
    if (parameter.required && !values.has(name)) return parameterError(name);
  }
  return values;
}
