/**
 * Makes an answer from an entry's response schema alone: for an operation without a behaviour of its own, and for
 * documentation. The answer fits the schema, echoes the parameters, and is the same for the same question at the same
 * moment.
 */

import * as v from 'valibot';
import type { Operation } from '../../../lib/catalogue/index.ts';
import type { Schema } from '../catalogue-schema.ts';
import { hashOf, mix } from '../random.ts';
import { type ApiCall, answer, type Behaviour } from './behaviour.ts';
import { type Constraints, numbersFor, type Slot, textsFor } from './sample-values.ts';

interface ExampleCall {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Unix time in milliseconds. */
  readonly now: number;
  /** Seed of the invented values; 1 when absent. */
  readonly seed?: number;
}

/** Known facts, by the names of the answer's members. */
export type AnswerFacts = Readonly<Record<string, unknown>>;

/** Behaviour for any operation. */
export const fromSchema: Behaviour = ({ operation, query, body, now }, world) =>
  answer(exampleAnswer(operation, { query, body, now, seed: world.seed }));

/** Fills every optional member, and takes the first of several forms. Throws for a schema that it cannot fill. */
export function exampleAnswer(operation: Operation, call: ExampleCall): unknown {
  const { query = {}, body } = call;
  const facts: AnswerFacts = { ...(typeof body === 'object' && body), ...query };
  const page = pageFor(operation, facts, call);
  const { paging } = operation;
  if (!paging || !Object.hasOwn(facts, paging.parameter)) return page;
  // The second page is the last, so that a client that reads all pages comes to an end.
  if ('member' in paging.next) {
    const { [paging.next.member]: _cursor, ...last } = page as Record<string, unknown>;
    return last;
  }
  const { [paging.parameter]: cursor, ...before } = facts;
  const firstPage = pageFor(operation, before, call);
  const lastItem = (firstPage as readonly Record<string, unknown>[]).at(-1);
  return lastItem?.[paging.next.ofLastItem] === cursor ? [] : page;
}

function pageFor({ id, response }: Operation, asked: AnswerFacts, { now, seed = 1 }: ExampleCall): unknown {
  const noise = hashOf(hashOf(seed, id), JSON.stringify(asked));
  return makeValue(response as Schema, { name: id, at: id, noise, index: 0, asked, now });
}

/**
 * Makes an answer with known facts in every member that has a fact's name. Facts without a member are left out, and
 * members without a fact are invented.
 *
 * @param records facts of each record of the outermost list, which gets as many records; when absent, one record for each
 * requested symbol
 */
export function factualAnswer(
  { operation: { id, response }, now }: Pick<ApiCall, 'operation' | 'now'>,
  noise: number,
  facts: AnswerFacts,
  records?: readonly AnswerFacts[],
): unknown {
  const place = { name: id, at: id, noise: hashOf(noise, id), index: 0, asked: facts, now };
  return makeValue(response as Schema, { ...place, ...(records && { records }) });
}

/** Place of a value in the answer, and the facts that it may be made from. */
interface AnswerPlace extends Slot {
  /** Path from the top, for an error message. */
  readonly at: string;
  /** Facts and parameters that members of the same name repeat. */
  readonly asked: AnswerFacts;
  /** Facts of the outermost list's records. */
  readonly records?: readonly AnswerFacts[];
  readonly isInList?: boolean;
}

function makeValue(schema: Schema, place: AnswerPlace): unknown {
  const { name, asked } = place;
  if (Object.hasOwn(asked, name) && fitsSchema(schema, asked[name])) return asked[name];
  switch (schema.type) {
    case 'object':
    case 'loose_object':
    case 'strict_object':
      return makeObject(schema.entries!, place);
    case 'array':
      return makeArray(schema, place);
    case 'tuple':
      return schema.items!.map((item, index) => makeValue(item, elementPlace(place, index)));
    case 'record':
      return Object.fromEntries(
        [0, 1].map((index) => {
          const inside = elementPlace(place, index);
          return [makeValue(schema.key!, inside), makeValue(schema.value!, inside)];
        }),
      );
    case 'optional':
    case 'exact_optional':
    case 'nullish':
    case 'nullable':
    case 'undefinedable':
      return makeValue(schema.wrapped!, place);
    case 'union':
    case 'variant':
      return firstFit(
        schema,
        place,
        (schema.options as readonly Schema[]).map((option) => makeValue(option, place)),
      );
    case 'picklist':
    case 'enum':
      return firstFit(schema, place, [
        schema.options![place.noise % schema.options!.length],
        ...schema.options!,
      ]);
    case 'literal':
      return schema.literal;
    case 'boolean':
      return place.noise % 2 === 0;
    case 'null':
    case 'any':
    case 'unknown':
      return null;
    case 'number':
      return firstFit(schema, place, numbersFor(place, constraintsOf(schema)));
    case 'string':
      return firstFit(schema, place, textsFor(place, constraintsOf(schema)));
    default:
      throw new TypeError(`${place.at}: no example can be made of a schema of type ${schema.type}`);
  }
}

function makeObject(entries: Readonly<Record<string, Schema>>, place: AnswerPlace): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, member]) => {
      const at = `${place.at}.${name}`;
      return [name, makeValue(member, { ...place, name, at, noise: hashOf(place.noise, name) })];
    }),
  );
}

/** Makes a record for each known one or each requested symbol if records have a symbol, else `count` records, or two. */
function makeArray(schema: Schema, place: AnswerPlace): unknown[] {
  const { minimum = 0, maximum = Infinity } = constraintsOf(schema);
  const ofSymbols = schema.item!.type.endsWith('object') && schema.item!.entries!.symbol !== undefined;
  const symbols = ofSymbols ? symbolsIn(place.asked) : [];
  const bySymbol = symbols.length > 0 ? symbols.map((symbol) => ({ symbol })) : undefined;
  const records: readonly AnswerFacts[] | undefined = place.isInList
    ? undefined
    : (place.records ?? bySymbol);
  const count = records?.length ?? Math.min(100, Number(place.asked.count ?? 2) || 2);
  return Array.from({ length: Math.min(maximum, Math.max(minimum, count)) }, (_, index) => {
    const facts = { ...place.asked, ...records?.[index] };
    return makeValue(schema.item!, { ...elementPlace(place, index), asked: facts, isInList: true });
  });
}

const elementPlace = (place: AnswerPlace, index: number): AnswerPlace => ({
  ...place,
  index,
  at: `${place.at}.${index}`,
  noise: mix(place.noise, index),
});

function symbolsIn({ symbols }: AnswerFacts): readonly string[] {
  if (typeof symbols === 'string') return symbols.split(',');
  return Array.isArray(symbols) ? symbols.map(String) : [];
}

function firstFit(schema: Schema, { at }: AnswerPlace, candidates: readonly unknown[]): unknown {
  const found = candidates.find((candidate) => fitsSchema(schema, candidate));
  if (found === undefined) throw new TypeError(`${at}: no example fits its schema; give it a behaviour`);
  return found;
}

const fitsSchema = (schema: v.GenericSchema, value: unknown) => v.is(schema, value);

/** Reads bounds and format from all pipes around a schema; other rules are met by trying candidates. */
function constraintsOf(schema: Schema): Constraints {
  let found: Constraints = {};
  for (const part of schema.pipe ?? []) {
    // A schema in a pipe may be a pipe itself.
    if (part.kind === 'schema') found = { ...found, ...constraintsOf(part as unknown as Schema) };
    if (part.type === 'metadata') found = { ...found, ...(part.metadata as object) };
    const bound = part.requirement;
    if (typeof bound !== 'number') continue;
    if (/^(min_(value|length)|length)$/.test(part.type))
      found = { ...found, minimum: Math.max(bound, found.minimum ?? bound) };
    if (/^(max_(value|length)|length)$/.test(part.type))
      found = { ...found, maximum: Math.min(bound, found.maximum ?? bound) };
  }
  return found;
}
