/** Checks a query and a body against their operation, for every request that arrives as text. */

import { type GenericSchema, safeParse } from 'valibot';
import { type FaultWords, faultOf, type PlaceFault, shorten, unsignable } from './faults.ts';
import { freeParameterFault, maxFreeName, maxFreeParameters, maxFreeValue } from './free-parameters.ts';
import type { Operation } from './operation.ts';
import { isDecimal, largestTextOf, maxLengthOf, memberNames, memberOf, partAt } from './places.ts';

interface RequestFault extends PlaceFault {
  readonly in: 'query' | 'body';
}

type QueryPairs = readonly (readonly [name: string, value: string])[];

/**
 * Checks a query. `pairs` are ready to send, each value in the interface's form; they are complete when `errors` is empty.
 * A list may come as several parameters of one name, because many generated clients write an array so.
 *
 * @example
 * checkQuery(getStockSnapshots, [['symbols', 'A,B'], ['category', 'US_STOCK'], ['symbols', 'C']]).pairs;
 * // [['symbols', 'A,B,C'], ['category', 'US_STOCK']]
 */
export function checkQuery(
  { query, anyQuery }: Operation,
  received: QueryPairs,
): { readonly pairs: QueryPairs; readonly errors: readonly RequestFault[] } {
  const parameterOf = (name: string) => (Object.hasOwn(query, name) ? query[name] : undefined);
  const parameters = withJoinedLists(received, (name) => parameterOf(name)?.list?.separator);
  const errors: RequestFault[] = [];
  const pairs: [string, string][] = [];
  const seen = new Set<string>();
  const repeated = repeatedNames(parameters);
  let free = 0;
  for (const [name, value] of parameters) {
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
 * Joins the parameters of a list into one, in the place of the first. An empty parameter becomes an empty item, which the
 * list's schema refuses.
 */
function withJoinedLists(pairs: QueryPairs, separatorOf: (name: string) => string | undefined): QueryPairs {
  const lists = new Map<string, string[]>();
  const firstOfEach = pairs.filter(([name, value]) => {
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

/** Descriptions of faults in the list of a refusal. */
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

/** A journal's record of a request must fit its store: an item of DynamoDB has 400 kB, including the answer. */
const maxBodyBytes = 128 * 1024;
const minBodyBytes = 4 * 1024;
/** Factor for white space, escapes, and members that the schema does not name. */
const bodyReserve = 2;
const maxBytesBySchema = new WeakMap<GenericSchema, number>();

/** Size limit of an operation's body, in bytes and whole KiB: an honest body is far smaller. */
export function maxBodyBytesOf({ body }: Pick<Operation, 'body'>): number {
  if (!body) return 0;
  const known = maxBytesBySchema.get(body);
  if (known !== undefined) return known;
  const bytes = Math.ceil((bodyReserve * largestTextOf(body)) / 1024) * 1024;
  const max = Math.min(maxBodyBytes, Math.max(minBodyBytes, bytes));
  maxBytesBySchema.set(body, max);
  return max;
}

/** Checks a body's length alone, before its content; undefined if the length is acceptable. */
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

/** One transaction of DynamoDB has 4 MB at most; even a body that compresses badly is a seventh shorter there. */
const maxEntriesBytes = 4 * 1024 * 1024;

/** Checks whether the journal has room for a body's orders: the entry of each order holds the whole body. */
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

/** Describes the accepted form when a number was received in place of a decimal. */
const decimalAllowed = 'a decimal number in a string';

/** In characters: the check of a longer body stops at the first fault. */
const maxFullyChecked = 16_384;
/** Items of a list in the body: with more, the check stops at the first fault. Each item could have a dozen. */
const maxItemsFullyChecked = 100;

/** Whether the checks of a body stop at the first fault. */
export const isLongBody = (text: string): boolean => text.length > maxFullyChecked;

const listsOf = (schema: GenericSchema, value: unknown) =>
  memberNames(schema).flatMap((name): [string, readonly unknown[]][] => {
    const list = (value as Readonly<Record<string, unknown>> | null)?.[name];
    return Array.isArray(list) ? [[name, list]] : [];
  });

/** Finds a top-level list of the body that is too long: its items are then not checked. */
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
 * Finds all faults of a body of normal size, or the first fault of a larger one: a hostile body could have a million faults,
 * each of them an object in memory.
 *
 * @param decimals text for `allowed` when a number was received in place of a decimal
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
