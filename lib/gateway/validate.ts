/** Validates a request against its operation, brings it to the form that is sent, and reads the accounts in it. */

import { accountsNamed } from '../catalogue/account-places.ts';
import { shorten } from '../catalogue/faults.ts';
import type { Operation } from '../catalogue/operation.ts';
import { bodyFaults, bodyLengthFault, checkQuery } from '../catalogue/validation.ts';
import { type Fault, faultsInWords, type Refusal } from '../problem.ts';
import { compactJson } from './compact-json.ts';
import type { GatewayRequest } from './http.ts';

/** The parts of a request that are signed and sent, besides the path. */
export interface SentParts {
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The client's headers that the catalogue names. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ValidRequest extends SentParts {
  /** Each account that the request names. */
  readonly accounts: readonly string[];
}

/** `compactJson` puts any other number in quotes. */
const decimals = 'a decimal number in a string, or a JSON number without an exponent';

export function validate(operation: Operation, request: GatewayRequest): ValidRequest | Refusal {
  const body = checkBody(operation, request);
  if ('code' in body) return body;
  const query = checkQuery(operation, request.query);
  const headers = checkHeaders(operation, request.headers);
  const { accounts, faults } = accountsNamed(operation, query.pairs, body.value);
  const atNewPlaces = faults.filter(({ name }) => !body.errors.some((error) => error.name === name));
  const ofAccounts = atNewPlaces.map((fault): Fault => ({ in: 'body', ...fault }));
  const twice = repeatedOrders(operation, body.value);
  const errors = [...query.errors, ...headers.errors, ...body.errors, ...ofAccounts, ...twice];
  if (errors.length > 0) return { code: 'invalid_parameter', detail: faultsInWords(errors), errors };
  return { query: query.pairs, body: body.text, headers: headers.headers, accounts };
}

/**
 * Of two orders with one id the upstream would place one, and nothing could tell which. Of two changes of one order it
 * would keep one, or a mixture of both.
 */
function repeatedOrders({ sideEffect }: Operation, body: unknown): readonly Fault[] {
  const { journal } = sideEffect ?? {};
  const list = journal?.by === 'client_order_id' ? journal.list : journal?.replaces && 'modify_orders';
  if (!list) return [];
  const orders = (body as Readonly<Record<string, unknown>> | undefined)?.[list];
  if (!Array.isArray(orders)) return [];
  const ids = orders.map(
    (order) => (order as { readonly client_order_id?: unknown } | null)?.client_order_id,
  );
  return ids.flatMap((id, index): Fault[] =>
    typeof id === 'string' && ids.indexOf(id) < index
      ? [
          {
            in: 'body',
            name: `/${list}/${index}/client_order_id`,
            detail: 'another order of this request has the same id',
            received: shorten(id),
          },
        ]
      : [],
  );
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
): Refusal | { readonly text: string; readonly value?: unknown; readonly errors: readonly Fault[] } {
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
  const json = compactJson(text, operation.body);
  if (!json.ok) return { code: 'invalid_body', detail: json.detail };
  return { ...json, errors: bodyFaults(operation.body, json, decimals) };
}
