/**
 * Describes the older form of an operation by its differences from the current one. Everything else, such as limit,
 * freshness and records, is taken from the current operation, and changes with it.
 */

import * as v from 'valibot';
import type { Note } from '../notes.ts';
import type { AccountPlaces, Operation, Paging } from '../operation.ts';
import { optional, type Parameter, text, whole } from '../parameters.ts';

type QuerySchema = Operation['query'];

export interface OlderForm {
  readonly id: string;
  readonly path: string;
  /** Required parameters that the current operation has, too, in this order; `optional` lists the optional ones. */
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  /** Parameters that only the older form has, or has in another form. */
  readonly own: QuerySchema;
  readonly response: v.GenericSchema;
  readonly paging?: Paging;
  /** Added to the current operation's example, of which parameters that the older form lacks are dropped. */
  readonly example?: Readonly<Record<string, string>>;
  readonly notes?: readonly Note[];
}

/** Makes the older form of an operation: a GET at one path. */
/* @__NO_SIDE_EFFECTS__ */
export function olderForm(current: Operation, form: OlderForm): Operation {
  const { group, title, limit, endpointKind, freshness, recordBytes, accounts } = current;
  const { id, path, response, paging, notes } = form;
  const query = {
    ...pickParameters(current, form.required, true),
    ...pickParameters(current, form.optional ?? [], false),
    ...form.own,
  };
  const example = Object.entries(current.example.query ?? {}).filter(([name]) => Object.hasOwn(query, name));
  return {
    id,
    group,
    title: `${title} (older form)`,
    method: 'GET',
    path,
    aliases: [],
    query,
    response,
    ...(accounts && { accounts: placesIn(accounts, query) }),
    limit,
    endpointKind,
    freshness,
    ...(recordBytes && { recordBytes }),
    paging,
    notes,
    example: { query: { ...Object.fromEntries(example), ...form.example } },
    sources: {
      path: ['observed', 'vendor-sdk'],
      request: ['observed', 'vendor-sdk'],
      response: ['observed', 'vendor-sdk'],
    },
    decisions: [likeCurrent, ourVersion],
    deprecated: `Kept for clients in the field: use ${current.id}.`,
    legacyOf: current.id,
  };
}

const likeCurrent =
  'Of an older form only its parameters’ names and the shape of its answer are known: all else, such as the values that a parameter takes, is taken to be as in the current operation.';

const ourVersion =
  'The vendor’s SDK sends x-version v2 with its older calls; the interface text accepts v3 alone, so that v3 is sent here too.';

/** Keeps the account places in parameters that the older form has; it has no body. */
const placesIn = ({ query = [] }: AccountPlaces, own: QuerySchema): AccountPlaces => ({
  query: query.filter((name) => Object.hasOwn(own, name)),
});

function pickParameters({ id, query }: Operation, names: readonly string[], required: boolean): QuerySchema {
  const picked = names.map((name): [string, Parameter] => {
    const parameter = query[name];
    if (!parameter) throw new TypeError(`${id} has no parameter ${name}`);
    return [name, { ...parameter, required }];
  });
  return Object.fromEntries(picked);
}

/** Parts of a schema, as far as the schema library shows them. */
interface Shape extends v.GenericSchema {
  readonly entries?: Readonly<Record<string, Shape>>;
  readonly wrapped?: Shape;
  readonly options?: readonly Shape[];
}

/** Finds the list in the current operation's answer, which is the list itself or has it in a member. */
/* @__NO_SIDE_EFFECTS__ */
export function listOf({ id, response }: Operation, member: string): v.GenericSchema {
  const list = findList(response, member);
  if (!list) throw new TypeError(`${id} answers no list, nor one in ${member}`);
  return list;
}

function findList(schema: Shape | undefined, member: string): v.GenericSchema | undefined {
  if (!schema || schema.type === 'array') return schema;
  if (schema.wrapped) return findList(schema.wrapped, member);
  if (schema.options) return schema.options.map((one) => findList(one, member)).find(Boolean);
  return findList(schema.entries?.[member], member);
}

/** Schema of a ranking's page: its records, and whether another page follows. */
/* @__NO_SIDE_EFFECTS__ */
export function rankPage(current: Operation): v.GenericSchema {
  return v.looseObject({
    has_more: v.pipe(v.boolean(), v.description('Whether there is another page.')),
    data: listOf(current, 'data'),
  });
}

/** Bound of page sizes for which no source names one: the widest that any operation has. */
const maxPageSize = 1000;

/* @__NO_SIDE_EFFECTS__ */
export const pageSize = (minimum = 1, maximum = maxPageSize, description = 'Records per page.') =>
  optional(whole({ description, minimum, maximum }));

/* @__NO_SIDE_EFFECTS__ */
export const pagesByIndex = () => ({
  page_index: optional(
    whole({
      description: 'Which page, from 1; the first when absent. After the last one there are no records.',
      minimum: 1,
      maximum: 1_000_000,
    }),
  ),
  page_size: pageSize(),
});

/* @__NO_SIDE_EFFECTS__ */
export const lastSeen = (description: string) => optional(text({ description, maxLength: 64 }));

/** A flag, `true` or `false` in any case, because clients write it as their language does; sent in lower case. */
/* @__NO_SIDE_EFFECTS__ */
export function flagInAnyCase({ description }: { readonly description: string }) {
  return optional({
    schema: v.pipe(
      v.union([v.boolean(), v.pipe(v.string(), v.regex(/^(true|false)$/i))]),
      v.transform((value) => String(value).toLowerCase()),
    ),
    required: true,
    description,
    allowed: 'true or false',
    json: { type: 'boolean' },
  } as const satisfies Parameter);
}

const timePattern = /^(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?|\d{1,15})$/;

/** A day, a moment or milliseconds: clients write the form of their version, and it is sent on unchanged. */
/* @__NO_SIDE_EFFECTS__ */
export function timeInAnyForm({ description }: { readonly description: string }) {
  return optional({
    schema: v.pipe(v.string(), v.regex(timePattern)),
    required: true,
    description,
    allowed: 'a day like 2026-10-21, a moment like 2026-10-21T13:30:00.000Z, or Unix time in milliseconds',
    json: { type: 'string', pattern: timePattern.source },
  } as const satisfies Parameter);
}
