/** Validates a request against its operation, converts it to the form that is sent, and collects the accounts in it. */

import { accountsNamed } from '../catalogue/account-places.ts';
import { shorten } from '../catalogue/faults.ts';
import { decodings } from '../catalogue/free-parameters.ts';
import { isGuarded, type Operation } from '../catalogue/operation.ts';
import { meantMember, orderMemberFaults } from '../catalogue/order-members.ts';
import {
  bodyFaults,
  bodyLengthFault,
  checkQuery,
  entriesLengthFault,
  isLongBody,
} from '../catalogue/validation.ts';
import { type Fault, faultsInWords, type Refusal } from '../problem.ts';
import { maxAnswerBytes } from '../upstream/channel-bound.ts';
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

/** Names no number without an exponent as wrong, because `compactJson` puts it in quotes. */
const decimals = 'a decimal number in a string, or a JSON number without an exponent';

/** @param rules `orderMembers`: members that an order may have besides the catalogue's */
export function validate(
  operation: Operation,
  request: GatewayRequest,
  rules: { readonly orderMembers?: readonly string[]; readonly maxAnswerBytes?: number | undefined } = {},
): ValidRequest | Refusal {
  const body = checkBody(operation, request);
  if ('code' in body) return body;
  const query = checkQuery(operation, request.query);
  const headers = checkHeaders(operation, request.headers);
  const { accounts, faults } = accountsNamed(operation, query.pairs, body.value);
  const atNewPlaces = faults.filter(({ name }) => !body.errors.some((error) => error.name === name));
  const ofAccounts = atNewPlaces.map((fault): Fault => ({ in: 'body', ...fault }));
  const twice = repeatedOrders(operation, body.value);
  const members = orderMemberFaults(operation, body.value, rules.orderMembers ?? []);
  const ofOrders = members.map((fault): Fault => ({ in: 'body', ...fault }));
  const besides = membersBeside(operation, query.pairs);
  const errors = [
    ...query.errors,
    ...headers.errors,
    ...body.errors,
    ...ofAccounts,
    ...twice,
    ...ofOrders,
    ...besides,
  ];
  if (errors.length > 0) return invalid(errors);
  const asked = { ...Object.fromEntries(query.pairs), ...(body.value as object | undefined) };
  const tooMany = recordsFault(operation, asked, rules.maxAnswerBytes);
  if (tooMany) return invalid([tooMany]);
  const tooLong = entriesLengthFault(operation, body);
  if (tooLong) return tooLong;
  return { query: query.pairs, body: body.text, headers: headers.headers, accounts };
}

const invalid = (errors: readonly Fault[]): Refusal => ({
  code: 'invalid_parameter',
  detail: faultsInWords(errors),
  errors,
});

/** How many records one answer has room for. */
export const maxRecordsOf = ({ recordBytes = 1 }: Operation, maxBytes: number = maxAnswerBytes): number =>
  Math.floor(maxBytes / recordBytes);

/** Why one answer of `maxBytes` has no room for the records that a valid request asks for. */
export function recordsFault(
  operation: Operation,
  { symbols, count }: Readonly<Record<string, unknown>>,
  maxBytes?: number,
): Fault | undefined {
  if (!operation.recordBytes) return undefined;
  const names = String(symbols).split(',').length;
  const each = Number(count ?? 200);
  const max = maxRecordsOf(operation, maxBytes);
  if (names * each <= max) return undefined;
  return {
    ...(operation.body ? { in: 'body', name: '/count' } : { in: 'query', name: 'count' }),
    detail: `${names} symbols with ${each} records each are ${names * each}, and one answer has room for ${max}: send several requests, with fewer symbols or a smaller count`,
    allowed: `at most ${Math.floor(max / names)} for each of ${names} symbols`,
    received: `${each}`,
  };
}

/** Refuses order members in the query, past the checks of the body: the upstream might read an order from there. */
function membersBeside(operation: Operation, query: SentParts['query']): readonly Fault[] {
  if (!isGuarded(operation)) return [];
  return query.flatMap(([name, value]): Fault[] => {
    if (Object.hasOwn(operation.query, name)) return [];
    // A name may be a path, such as `order[side]`: each of its words may be a member.
    const words = decodings(name).flatMap((one) => one.split(/[.[\]]+/));
    const meant = words.map((one) => meantMember(operation, one));
    const [member] = meant.filter((one) => one !== undefined);
    if (member === undefined) return [];
    return [
      {
        in: 'query',
        name,
        detail: 'may be read as a member of the order',
        allowed: `${member} in the body`,
        received: shorten(value),
      },
    ];
  });
}

/**
 * Refuses a repeated id within one request. The upstream would place only one of two orders with the same id, and nothing
 * shows which; of two changes of one order it would keep one, or a mixture of both.
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
  const seen = new Set<unknown>();
  const again = ids.flatMap((id, index) => {
    const isRepeated = typeof id === 'string' && seen.has(id);
    seen.add(id);
    return isRepeated ? [{ id, index }] : [];
  });
  return again.slice(0, maxRepeated).map(
    ({ id, index }): Fault => ({
      in: 'body',
      name: `/${list}/${index}/client_order_id`,
      detail: 'another order of this request has the same id',
      received: shorten(id),
    }),
  );
}

/** Most repeated ids that a refusal names: a list may have thousands. */
const maxRepeated = 20;

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
  // A browser lets a page of another site send other types, or none, without a preflight request.
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return { code: 'unsupported_media_type' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    const encoding = headers['content-encoding'];
    return encoding
      ? {
          code: 'unsupported_media_type',
          detail: `The body has the content-encoding ${shorten(encoding)}: send it as it is.`,
        }
      : { code: 'invalid_body', detail: 'The body is not UTF-8.' };
  }
  const json = compactJson(text, operation.body);
  if (!json.ok) return { code: 'invalid_body', detail: json.detail };
  const errors = bodyFaults(operation.body, json, decimals);
  if (errors.length > 0 && isLongBody(text)) return invalid(errors);
  return { ...json, errors };
}
