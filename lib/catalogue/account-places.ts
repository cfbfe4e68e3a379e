/**
 * Finds the accounts that a request names. An account at a place that no entry declares is a fault, because nothing would
 * check the caller's right to it.
 */

import type { GenericSchema } from 'valibot';
import { type PlaceFault, shorten, toPointerPart } from './faults.ts';
import type { Operation } from './operation.ts';
import { itemOf, memberOf } from './places.ts';

/** Whether a name may be read as an account: also within a longer one, such as `x[account_id]`, and in any case. */
export const looksLikeAccount = (name: string): boolean => /account/i.test(name);

interface AccountsNamed {
  readonly accounts: readonly string[];
  /** Faults of the body alone: in a query, `checkQuery` has refused such names already. */
  readonly faults: readonly PlaceFault[];
}

type NamesAndValues = readonly (readonly [name: string, value: string])[];

/**
 * @param query query that `checkQuery` has checked
 * @param body parsed body, in which no name comes twice; undefined without a body
 */
export function accountsNamed(
  { accounts: places, body: schema }: Pick<Operation, 'accounts' | 'body'>,
  query: NamesAndValues,
  body?: unknown,
): AccountsNamed {
  const declared = places?.query ?? [];
  const queryAccounts = query.flatMap(([name, value]) => (declared.includes(name) ? [value] : []));
  const { accounts, faults } = accountsOfBody(places?.body ?? [], body, schema);
  return { accounts: [...new Set([...queryAccounts, ...accounts])], faults };
}

/** Limit of the faults that are collected: a hostile body could have a million. */
const maxFaults = 20;

/** A part of the body that is still to be searched. */
interface BodyPart {
  readonly value: object;
  /** JSON Pointer of the part; `place` is that pointer with `*` for each index of a list. */
  readonly pointer: string;
  readonly place: string;
  /** Undefined if the catalogue does not know the part. */
  readonly schema: GenericSchema | undefined;
}

function accountsOfBody(
  declared: readonly string[],
  body: unknown,
  whole: GenericSchema | undefined,
): AccountsNamed {
  const accounts: string[] = [];
  const faults: PlaceFault[] = [];
  // A loop instead of recursion: a body of a megabyte can be nested deeper than the stack allows.
  const parts: BodyPart[] = isObject(body) ? [{ value: body, pointer: '', place: '', schema: whole }] : [];
  for (let part = parts.pop(); part && faults.length < maxFaults; part = parts.pop()) {
    const isList = Array.isArray(part.value);
    const item = isList ? part.schema && itemOf(part.schema) : undefined;
    for (const [name, value] of Object.entries(part.value)) {
      if (faults.length === maxFaults) break;
      const step = isList ? name : toPointerPart(name);
      const pointer = `${part.pointer}/${step}`;
      const place = `${part.place}/${isList ? '*' : step}`;
      const schema = isList ? item : part.schema && memberOf(part.schema, name);
      if (declared.includes(place)) {
        if (typeof value === 'string') accounts.push(value);
        else faults.push({ name: pointer, detail: 'an account is a text', received: shownValue(value) });
        // A name that the schema has at this place is no account, although it may look like one.
      } else if (!isList && !schema && looksLikeAccount(name))
        faults.push({ name: pointer, detail: unexpectedAccount(declared), received: shownValue(value) });
      else if (isObject(value)) parts.push({ value, pointer, place, schema });
    }
  }
  return { accounts, faults };
}

const unexpectedAccount = (declared: readonly string[]) =>
  `no account is taken here${declared.length > 0 ? `, but at ${declared.join(' and ')}` : ''}`;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Shows a received value. A list or an object is only named as such: it may be as long as a body. */
const shownValue = (value: unknown): string =>
  isObject(value) ? (Array.isArray(value) ? 'Array' : 'Object') : shorten(JSON.stringify(value));
