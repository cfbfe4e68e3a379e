/**
 * The accounts that a request names. One at a place that no entry declares would be an account that nothing checks, so
 * it is a fault.
 */

import type { GenericSchema } from 'valibot';
import { type PlaceFault, shorten, toPointerPart } from './faults.ts';
import type { Operation } from './operation.ts';
import { itemOf, memberOf } from './places.ts';

/** Also within a longer name, such as `x[account_id]`, and in any case, as some servers read names. */
export const looksLikeAccount = (name: string): boolean => /account/i.test(name);

export interface AccountsNamed {
  readonly accounts: readonly string[];
  /** Of the body alone: a query takes no parameter with such a name but those of the catalogue. */
  readonly faults: readonly PlaceFault[];
}

type NamesAndValues = readonly (readonly [name: string, value: string])[];

/**
 * @param query as `checkQuery` has checked it
 * @param body parsed, without a name that comes twice; undefined where there is none
 */
export function accountsNamed(
  { accounts: places, body: schema }: Pick<Operation, 'accounts' | 'body'>,
  query: NamesAndValues,
  body?: unknown,
): AccountsNamed {
  const declared = places?.query ?? [];
  const ofQuery = query.flatMap(([name, value]) => (declared.includes(name) ? [value] : []));
  const { accounts, faults } = accountsOfBody(places?.body ?? [], body, schema);
  return { accounts: [...new Set([...ofQuery, ...accounts])], faults };
}

/** A hostile body could have a million of them. */
const maxFaults = 20;

/** A part of the body that is left to walk. */
interface BodyPart {
  readonly value: object;
  /** Its JSON Pointer, and the same with `*` for each element of a list. */
  readonly pointer: string;
  readonly place: string;
  /** Undefined where the catalogue does not know the part. */
  readonly schema: GenericSchema | undefined;
}

function accountsOfBody(
  declared: readonly string[],
  body: unknown,
  whole: GenericSchema | undefined,
): AccountsNamed {
  const accounts: string[] = [];
  const faults: PlaceFault[] = [];
  // A loop: a body of a megabyte can be nested deeper than calls can.
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
        else faults.push({ name: pointer, detail: 'an account is a text', received: shown(value) });
        // A name that the catalogue has at this place means there what the catalogue says.
      } else if (!isList && !schema && looksLikeAccount(name))
        faults.push({ name: pointer, detail: unexpected(declared), received: shown(value) });
      else if (isObject(value)) parts.push({ value, pointer, place, schema });
    }
  }
  return { accounts, faults };
}

const unexpected = (declared: readonly string[]) =>
  `no account is taken here${declared.length > 0 ? `, but at ${declared.join(' and ')}` : ''}`;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Of a list or an object only what it is: it may be as long as a body. */
const shown = (value: unknown): string =>
  isObject(value) ? (Array.isArray(value) ? 'Array' : 'Object') : shorten(JSON.stringify(value));
