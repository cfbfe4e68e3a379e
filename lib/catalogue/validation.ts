/** Checks a query and a body against their operation, for every request that arrives as text. */

import { type GenericSchema, safeParse } from 'valibot';
import { type FaultWords, faultOf, type PlaceFault, shorten, unsignable } from './faults.ts';
import { freeParameterFault, maxFreeName, maxFreeParameters, maxFreeValue } from './free-parameters.ts';
import type { Operation } from './operation.ts';
import { isDecimal, largestTextOf, maxLengthOf, memberNames, memberOf, partAt } from './places.ts';

export interface RequestFault extends PlaceFault {
  readonly in: 'query' | 'body';
}

type QueryPairs = readonly (readonly [name: string, value: string])[];

/**
 * `pairs` are to be sent, each value in the interface's form; they are complete when `errors` is empty. A list may come
 * as several parameters of one name, which is how many generated clients write an array.
 *
 * @example
 * checkQuery(getStockSnapshots, [['symbols', 'A,B'], ['category', 'US_STOCK'], ['symbols', 'C']]).pairs;
 * // [['symbols', 'A,B,C'], ['category', 'US_STOCK']]
 */
export function checkQuery(
  { query, anyQuery }: Operation,
  given: QueryPairs,
): { readonly pairs: QueryPairs; readonly errors: readonly RequestFault[] } {
  const parameterOf = (name: string) => (Object.hasOwn(query, name) ? query[name] : undefined);
  const received = withJoinedLists(given, (name) => parameterOf(name)?.list?.separator);
  const errors: RequestFault[] = [];
  const pairs: [string, string][] = [];
  const seen = new Set<string>();
  const repeated = repeatedNames(received);
  let free = 0;
  for (const [name, value] of received) {
    const parameter = parameterOf(name);
    const fault = (detail: string, allowed?: string) =>
      errors.push({ in: 'query', name, detail, ...(allowed && { allowed }), received: shorten(value) });
    const reason = unsignable(name, value);
    if (reason) {
      fault(unsignableWords[reason]);
    } else if (!parameter) {
      const unwanted = anyQuery && freeParameterFault(name, value, repeated.has(name));
      if (!anyQuery) fault('unknown parameter', Object.keys(query).join(', ') || 'no parameters');
      else if (unwanted) fault(unwantedWords[unwanted]);
      else if (++free <= maxFreeParameters) pairs.push([name, value]);
      else if (free === maxFreeParameters + 1) fault('too many parameters', `at most ${maxFreeParameters}`);
    } else if (seen.has(name)) {
      fault('given more than once', parameter.allowed);
    } else {
      const parsed = safeParse(parameter.schema, value);
      if (parsed.success) pairs.push([name, parsed.output]);
      else fault(words.notAllowed, parameter.allowed);
    }
    seen.add(name);
  }
  for (const [name, { required, allowed }] of Object.entries(query))
    if (required && !seen.has(name)) errors.push({ in: 'query', name, detail: words.missing, allowed });
  return { pairs, errors };
}

/**
 * The parameters of one list as one, where the first of them stands. An empty one among them becomes an empty item,
 * which the list's schema refuses.
 */
function withJoinedLists(given: QueryPairs, separatorOf: (name: string) => string | undefined): QueryPairs {
  const lists = new Map<string, string[]>();
  const firstOfEach = given.filter(([name, value]) => {
    const list = lists.get(name);
    if (list) list.push(value);
    else if (separatorOf(name) !== undefined) lists.set(name, [value]);
    return !list;
  });
  return firstOfEach.map(([name, value]) => [name, lists.get(name)?.join(separatorOf(name)) ?? value]);
}

function repeatedNames(pairs: QueryPairs): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const [name] of pairs) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}

const bounds: Readonly<Record<string, string>> = {
  non_empty: 'empty',
  min_length: 'too short',
  max_length: 'too long',
  min_value: 'too small',
  max_value: 'too large',
};

const words = { missing: 'required', notAllowed: 'not an allowed value' };

/** As a refusal's list has them. */
export const faultWords: FaultWords = {
  ...words,
  outOfBounds: ({ type, message }) => bounds[type] ?? message,
};

const unsignableWords = {
  separator: 'the signature cannot carry & here, nor = in a name',
  'lone-surrogate': 'half of a surrogate pair, which has no UTF-8 form',
} as const;

const unwantedWords = {
  nameless: 'has no name',
  reserved: 'reserved: a signing header has this name',
  account: 'no account is taken here: it stands in the body',
  'too-long': `too long: at most ${maxFreeName} characters in a name and ${maxFreeValue} in a value, percent-encoded`,
  ambiguous: 'the signature cannot carry = in a value of a name that comes more than once',
} as const;

/** What a journal keeps of a request must fit its store: an item of DynamoDB has 400 kB, with the answer. */
const maxBodyBytes = 128 * 1024;
const minBodyBytes = 4 * 1024;
/** For white space, escapes, and members that the schema does not name. */
const bodyReserve = 2;
const maxBytesBySchema = new WeakMap<GenericSchema, number>();

/** How large a body of the operation may be, in whole KiB: an honest one is far smaller. */
export function maxBodyBytesOf({ body }: Pick<Operation, 'body'>): number {
  if (!body) return 0;
  const known = maxBytesBySchema.get(body);
  if (known !== undefined) return known;
  const bytes = Math.ceil((bodyReserve * largestTextOf(body)) / 1024) * 1024;
  const max = Math.min(maxBodyBytes, Math.max(minBodyBytes, bytes));
  maxBytesBySchema.set(body, max);
  return max;
}

/** Why no body of this length is one of the operation's, before it is read; undefined where one may be. */
export function bodyLengthFault(
  operation: Operation,
  bytes: number,
): { readonly code: 'invalid_body' | 'payload_too_large'; readonly detail: string } | undefined {
  const { id, body } = operation;
  if (!body) return bytes > 0 ? { code: 'invalid_body', detail: `${id} takes no body.` } : undefined;
  if (bytes === 0) return { code: 'invalid_body', detail: `${id} needs a JSON body.` };
  const max = maxBodyBytesOf(operation);
  if (bytes <= max) return undefined;
  return { code: 'payload_too_large', detail: `A body of ${id} may have ${max} bytes.` };
}

/** One transaction of DynamoDB has 4 MB at most: what does not compress well is a seventh shorter there. */
const maxEntriesBytes = 4 * 1024 * 1024;

/** Why the journal could not keep the orders of a body, of each of which its entry has the whole body. */
export function entriesLengthFault(
  { id, sideEffect }: Operation,
  { text, value }: { readonly text: string; readonly value?: unknown },
): { readonly code: 'payload_too_large'; readonly detail: string } | undefined {
  const { journal } = sideEffect ?? {};
  if (journal?.by !== 'client_order_id' || journal.answered !== 'together') return undefined;
  const orders = (value as Readonly<Record<string, unknown>> | undefined)?.[journal.list];
  const count = Array.isArray(orders) ? orders.length : 0;
  const bytes = new TextEncoder().encode(text).length;
  if (count * bytes <= maxEntriesBytes) return undefined;
  const max = Math.floor(maxEntriesBytes / count);
  return { code: 'payload_too_large', detail: `A body of ${id} with ${count} orders may have ${max} bytes.` };
}

const maxFaults = 20;

/** Where a number came in place of a decimal. */
const decimalAllowed = 'a decimal number in a string';

/** In characters; a longer body is larger than normal. */
const maxFullyChecked = 16_384;
/** In items of a list of the body itself, each of which could have a dozen faults. */
const maxItemsFullyChecked = 100;

/** Whether the checks of a body end with the first that it fails. */
export const isLongBody = (text: string): boolean => text.length > maxFullyChecked;

const listsOf = (schema: GenericSchema, value: unknown) =>
  memberNames(schema).flatMap((name): [string, readonly unknown[]][] => {
    const list = (value as Readonly<Record<string, unknown>> | null)?.[name];
    return Array.isArray(list) ? [[name, list]] : [];
  });

/** A list of the body itself that is longer than it may be: its items are not looked at. */
function longListFault(schema: GenericSchema, value: unknown): RequestFault | undefined {
  for (const [name, list] of listsOf(schema, value)) {
    const max = maxLengthOf(memberOf(schema, name)!);
    if (max !== undefined && list.length > max)
      return {
        in: 'body',
        name: `/${name}`,
        detail: bounds.max_length!,
        allowed: `<=${max}`,
        received: `${list.length}`,
      };
  }
  return undefined;
}

/**
 * All faults of a body of normal size. Of a larger one the first fault only: a hostile body could have a million
 * faults, each of them an object in memory.
 *
 * @param decimals what is allowed where a number came in place of a decimal
 */
export function bodyFaults(
  schema: GenericSchema,
  { text, value }: { readonly text: string; readonly value: unknown },
  decimals = decimalAllowed,
): readonly RequestFault[] {
  const longList = longListFault(schema, value);
  if (longList) return [longList];
  const abortEarly =
    isLongBody(text) || listsOf(schema, value).some(([, list]) => list.length > maxItemsFullyChecked);
  const parsed = safeParse(schema, value, { abortEarly });
  if (parsed.success) return [];
  const faults = parsed.issues.slice(0, maxFaults).map((issue): RequestFault => {
    const { received, ...fault } = faultOf(issue, faultWords);
    const part = typeof issue.input === 'number' && partAt(schema, issue.path ?? []);
    return {
      in: 'body',
      ...fault,
      ...(part && isDecimal(part) && { allowed: decimals }),
      ...(received !== undefined && { received: shorten(received) }),
    };
  });
  const more = parsed.issues.length - faults.length;
  const rest = (detail: string) => faults.push({ in: 'body', name: '/', detail });
  if (more > 0) rest(`${more} more faults`);
  else if (abortEarly) rest('perhaps more: of a body this long the first fault is named');
  return faults;
}
