/**
 * Examples of responses: the simulated upstream's answers to the catalogue's example requests. Its market and clock stand
 * still here, so that the same catalogue always gives the same document.
 */

import * as v from 'valibot';
import type { Operation } from '../../lib/catalogue/index.ts';
import { isJsonObject, type Json } from '../json.ts';
import { behaviourOf } from '../simulator/behaviours/index.ts';
import { createWorld, type World } from '../simulator/world.ts';
import { ownExamples } from './journaled.ts';
import { baseOf, isArray, isObject, isRecord, isUnion, isWrapped } from './schema-parts.ts';

const seed = 1;

/** Moment of a trading day, in regular hours. */
const exampleTime = Date.parse('2026-10-21T15:00:00Z');

const exampleCache = new Map<Operation, Json | undefined>();

/** Examples by operation id, without operations that the simulator does not play. A process makes each once. */
export function responseExamples(operations: readonly Operation[]): ReadonlyMap<string, Json> {
  const examples = new Map(Object.entries(ownExamples));
  const ofReads = createWorld(seed);
  for (const operation of operations.filter(({ answeredBy, follows }) => !answeredBy && !follows)) {
    // Each change has a world of its own, so that it does not show in the example of another operation.
    if (!exampleCache.has(operation))
      exampleCache.set(operation, exampleOf(operation, operation.sideEffect ? createWorld(seed) : ofReads));
    const example = exampleCache.get(operation);
    if (example !== undefined) examples.set(operation.id, example);
  }
  return examples;
}

function exampleOf(operation: Operation, world: World): Json | undefined {
  const { query = {}, body } = operation.example;
  const reply = behaviourOf(operation.id)({ operation, query, body, now: exampleTime }, world);
  return reply.ok ? clip(JSON.parse(JSON.stringify(reply.payload)) as Json, operation.response) : undefined;
}

/**
 * Shortens an example: two records of a list, and one of each list in them, because a third shows nothing new. Members
 * that the schema does not name are left out, because an example with them explains nothing.
 */
function clip(json: Json, schema: v.GenericSchema, max = 2): Json {
  const base = baseOf(schema);
  if (isWrapped(base)) return clip(json, base.wrapped, max);
  const option = isUnion(base) && base.options.find((one) => v.is(one, json));
  if (option) return clip(json, option, max);
  if (isArray(base) && Array.isArray(json))
    return json.slice(0, max).map((one: Json) => clip(one, base.item, 1));
  if (!isJsonObject(json)) return json;
  const members = isObject(base) ? base.entries : undefined;
  const value = isRecord(base) ? base.value : undefined;
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, inner]) => {
      const part = members?.[name] ?? value;
      return part ? [[name, clip(inner, part, max)]] : [];
    }),
  );
}
