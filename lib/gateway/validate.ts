/** Validates a request against its operation, and brings it to the form that is sent. */

import * as v from 'valibot';
import type { Operation } from '../catalogue/operation.ts';
import type { Fault, Refusal } from '../problem.ts';
import { compactJson } from './compact-json.ts';
import type { GatewayRequest } from './http.ts';

/** Far above the body of any operation, and small enough to be validated. */
const maxBodyBytes = 1024 * 1024;

/** The parts of a request that are signed and sent, besides the path. */
export interface ValidRequest {
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The client's headers that the catalogue names. */
  readonly headers: Readonly<Record<string, string>>;
}

export function validate(operation: Operation, request: GatewayRequest): ValidRequest | Refusal {
  const body = checkBody(operation, request);
  if ('code' in body) return body;
  const query = checkQuery(operation, request.query);
  const headers = checkHeaders(operation, request.headers);
  const errors = [...query.errors, ...headers.errors, ...body.errors];
  if (errors.length > 0)
    return {
      code: 'invalid_parameter',
      detail: errors.map((error) => `${error.name}: ${error.detail}`).join('; '),
      errors,
    };
  return { query: query.pairs, body: body.text, headers: headers.headers };
}

function checkQuery(operation: Operation, received: GatewayRequest['query']) {
  const errors: Fault[] = [];
  const pairs: [string, string][] = [];
  const seen = new Set<string>();
  for (const [name, value] of received) {
    const parameter = Object.hasOwn(operation.query, name) ? operation.query[name] : undefined;
    const fault = (detail: string, allowed?: string) =>
      errors.push({ in: 'query', name, detail, ...(allowed && { allowed }), received: shorten(value) });
    if (/[&=]/.test(name) || value.includes('&')) {
      // The signature joins without escaping: these characters would sign like another parameter.
      fault('the signature cannot carry & here, nor = in a name');
    } else if (/\p{Cs}/u.test(name + value)) {
      fault('half of a surrogate pair, which has no UTF-8 form');
    } else if (!parameter) {
      if (operation.anyQuery) pairs.push([name, value]);
      else fault('unknown parameter', Object.keys(operation.query).join(', ') || 'no parameters');
    } else if (seen.has(name)) {
      fault('given more than once', parameter.allowed);
    } else {
      const parsed = v.safeParse(parameter.schema, value);
      if (parsed.success) pairs.push([name, parsed.output]);
      else fault('not an allowed value', parameter.allowed);
    }
    seen.add(name);
  }
  for (const [name, parameter] of Object.entries(operation.query))
    if (parameter.required && !seen.has(name))
      errors.push({ in: 'query', name, detail: 'required', allowed: parameter.allowed });
  return { pairs, errors };
}

function checkHeaders(operation: Operation, received: GatewayRequest['headers']) {
  const headers: Record<string, string> = {};
  const errors: Fault[] = [];
  for (const name of operation.headers ?? []) {
    const value = received[name];
    if (value === undefined) continue;
    if (/^[ -~]{1,256}$/.test(value)) headers[name] = value;
    else errors.push({ in: 'header', name, detail: 'not plain text', received: shorten(value) });
  }
  return { headers, errors };
}

function checkBody(
  operation: Operation,
  { body, headers }: GatewayRequest,
): Refusal | { readonly text: string; readonly errors: readonly Fault[] } {
  if (!operation.body)
    return body?.length
      ? { code: 'invalid_body', detail: `${operation.id} takes no body.` }
      : { text: '', errors: [] };
  if (!body?.length) return { code: 'invalid_body', detail: `${operation.id} needs a JSON body.` };
  if (body.length > maxBodyBytes)
    return { code: 'payload_too_large', detail: `A body may have ${maxBodyBytes} bytes.` };
  // Absent means JSON: nothing else is ever sent here.
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? 'application/json'))
    return { code: 'unsupported_media_type' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return { code: 'invalid_body', detail: 'The body is not UTF-8.' };
  }
  const json = compactJson(text);
  if (!json.ok) return { code: 'invalid_body', detail: json.detail };
  return { text: json.text, errors: bodyFaults(operation.body, json) };
}

const shownFaults = 20;

/**
 * All faults of a body of usual size. Of a larger one the first fault only: a hostile body could have a million
 * faults, each an object in memory.
 */
function bodyFaults(
  schema: v.GenericSchema,
  { text, value }: { text: string; value: unknown },
): readonly Fault[] {
  const abortEarly = text.length > 16_384;
  const parsed = v.safeParse(schema, value, { abortEarly });
  if (parsed.success) return [];
  const faults = parsed.issues.slice(0, shownFaults).map(bodyFault);
  const more = parsed.issues.length - faults.length;
  if (more > 0) faults.push({ in: 'body', name: '/', detail: `${more} more faults` });
  else if (abortEarly)
    faults.push({
      in: 'body',
      name: '/',
      detail: 'perhaps more: of a body this long the first fault is named',
    });
  return faults;
}

function bodyFault(issue: v.BaseIssue<unknown>): Fault {
  const pointer = (issue.path ?? []).map(
    ({ key }) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`,
  );
  const missing = issue.received === 'undefined';
  // The catalogue describes a format in words; valibot knows only the regular expression.
  const inWords = issue.type === 'regex' || issue.type === 'iso_date';
  return {
    in: 'body',
    name: pointer.join('') || '/',
    detail: missing
      ? 'required'
      : issue.kind === 'schema' || inWords
        ? 'not an allowed value'
        : issue.message,
    // For a missing member valibot expects its name, which `name` contains already.
    ...(!missing && {
      allowed: inWords ? issue.message : (issue.expected ?? issue.message),
      received: shorten(issue.received),
    }),
  };
}

const shorten = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
