/**
 * Checks a call against its catalogue entry and builds its request. The schemas are those of the gateway: a call that the
 * gateway would refuse is refused here, without a round trip.
 */

import { type GenericSchema, safeParse } from 'valibot';
import { faultOf, shorten, unsignable } from '../catalogue/faults.ts';
import { freeParameterFault, maxFreeParameters } from '../catalogue/free-parameters.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Parameter } from '../catalogue/parameters.ts';
import { type Fault, InvalidRequestError } from './errors.ts';

/** The request before a connection signs it or adds a key. */
export interface ClientRequest {
  readonly operation: Operation;
  /** The path after the base URL. */
  readonly path: string;
  /** Pairs in the caller's order, not encoded. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Serialised once; absent when the operation has no body. */
  readonly body?: string | undefined;
  /** The caller's headers that the entry names, and `idempotency-key` of a change, which only a gateway knows. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Options of a call that are part of the request. */
export interface SentOptions {
  readonly query?: unknown;
  readonly headers?: unknown;
  readonly idempotencyKey?: unknown;
}

/** @throws InvalidRequestError that names every fault */
export function toRequest(
  operation: Operation,
  path: string,
  input: unknown,
  options: SentOptions,
): ClientRequest {
  const faults: Fault[] = [];
  const body = operation.body && bodyText(operation.body, input ?? {}, faults);
  const query = queryPairs(operation, operation.body ? options.query : input, faults);
  const headers = headersOf(operation, options.headers, faults);
  const key = options.idempotencyKey;
  if (key != null)
    if (operation.sideEffect?.journal?.by !== 'idempotency-key')
      faults.push({ in: 'header', name: keyHeader, detail: 'is for other changes' });
    else if (typeof key === 'string' && keyForm.test(key)) headers[keyHeader] = key;
    else faults.push({ in: 'header', name: keyHeader, ...plainText(255), received: shown(key) });
  if (faults.length > 0) throw new InvalidRequestError(operation.id, faults);
  return { operation, path, query, headers, body };
}

function queryPairs(operation: Operation, input: unknown, faults: Fault[]) {
  const pairs: [string, string][] = [];
  const names = new Set<string>();
  let free = 0;
  for (const [name, value] of membersOf(input, 'query', faults)) {
    if (value == null) continue;
    names.add(name);
    const parameter = Object.hasOwn(operation.query, name) ? operation.query[name] : undefined;
    const fault = (detail: string, allowed?: string) =>
      faults.push({ in: 'query', name, detail, ...(allowed && { allowed }), received: shown(value) });
    if (!parameter && !operation.anyQuery) {
      fault('is no parameter', Object.keys(operation.query).join(', ') || 'no parameters');
      continue;
    }
    const text = parameter ? parsedBy(parameter.schema, value) : freeText(value);
    if (text === undefined) {
      fault(faultWords.notAllowed, parameter?.allowed ?? 'text, a number, a boolean or a list');
      continue;
    }
    const isUnwanted = () => !parameter && (++free > maxFreeParameters || freeParameterFault(name, text));
    const reason = unsignable(name, text) ?? (isUnwanted() ? 'unwanted' : undefined);
    if (reason) fault(reasonWords[reason]);
    else pairs.push([name, text]);
  }
  for (const [name, { required, allowed }] of Object.entries(operation.query))
    if (required && !names.has(name)) faults.push({ in: 'query', name, detail: faultWords.missing, allowed });
  return pairs;
}

/** Descriptions of faults; in the error's message each follows the name of the parameter. */
const faultWords = {
  missing: 'is required',
  notAllowed: 'is not an allowed value',
  outOfBounds: 'is not an allowed value',
} as const;

const reasonWords = {
  separator: 'has an & or =, which the signature cannot carry',
  'lone-surrogate': 'has half of a surrogate pair, which has no UTF-8 form',
  unwanted: 'is reserved, too long, without a name, or one of too many',
} as const;

function parsedBy(schema: Parameter['schema'], value: unknown): string | undefined {
  const parsed = safeParse(schema, value);
  return parsed.success ? parsed.output : undefined;
}

/** Writes a parameter that no source names; several values are joined with commas, as in named parameters. */
function freeText(value: unknown): string | undefined {
  const values = Array.isArray(value) ? value : [value];
  return values.every((one) => /^(string|number|boolean)$/.test(typeof one)) ? values.join(',') : undefined;
}

const keyHeader = 'idempotency-key';
/** Printable ASCII, with no space at an end: HTTP would lose it. */
const keyForm = /^[!-~]([ -~]{0,253}[!-~])?$/;

const plainText = (max: number) => ({
  detail: 'is not plain text',
  allowed: `1 to ${max} printable ASCII characters`,
});

function headersOf(operation: Operation, input: unknown, faults: Fault[]) {
  const headers: Record<string, string> = {};
  for (const [name, value] of membersOf(input, 'header', faults)) {
    if (value == null) continue;
    const fault = (one: Pick<Fault, 'detail' | 'allowed'>) =>
      faults.push({ in: 'header', name, ...one, received: shown(value) });
    if (!operation.headers?.includes(name))
      fault({ detail: 'is not sent on', allowed: operation.headers?.join(', ') || 'no headers' });
    else if (typeof value === 'string' && /^[ -~]{1,256}$/.test(value)) headers[name] = value;
    else fault(plainText(256));
  }
  return headers;
}

function membersOf(input: unknown, where: Fault['in'], faults: Fault[]): [string, unknown][] {
  if (input == null) return [];
  if (typeof input === 'object' && !Array.isArray(input)) return Object.entries(input);
  faults.push({ in: where, name: where, detail: 'is no object', received: shown(input) });
  return [];
}

/** Serialised once: this text is sent, and hashed for the signature. */
function bodyText(schema: GenericSchema, value: unknown, faults: Fault[]): string | undefined {
  const parsed = safeParse(schema, value);
  if (!parsed.success) {
    for (const issue of parsed.issues) {
      const { received, ...fault } = faultOf(issue, faultWords);
      faults.push({ in: 'body', ...fault, ...(received !== undefined && { received: shown(issue.input) }) });
    }
    return undefined;
  }
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The cause is in a member that the schema does not name: a BigInt, or an object that contains itself.
    faults.push({ in: 'body', name: '/', detail: `is not JSON: ${error}` });
    return undefined;
  }
}

/** Shortens a received value for a message. */
function shown(value: unknown): string {
  let text: string;
  try {
    text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  } catch {
    text = String(value);
  }
  return shorten(text);
}
