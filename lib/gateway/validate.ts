/** Validates a request against its operation, and brings it to the form that is sent. */

import { shorten } from '../catalogue/faults.ts';
import type { Operation } from '../catalogue/operation.ts';
import { bodyFaults, bodyLengthFault, checkQuery } from '../catalogue/validation.ts';
import { type Fault, faultsInWords, type Refusal } from '../problem.ts';
import { compactJson } from './compact-json.ts';
import type { GatewayRequest } from './http.ts';

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
  if (errors.length > 0) return { code: 'invalid_parameter', detail: faultsInWords(errors), errors };
  return { query: query.pairs, body: body.text, headers: headers.headers };
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
  const lengthFault = bodyLengthFault(operation, body?.length ?? 0);
  if (lengthFault) return lengthFault;
  if (!operation.body) return { text: '', errors: [] };
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
