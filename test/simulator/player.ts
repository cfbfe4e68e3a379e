/** Calls the simulator's behaviours as its server does, without the wire, at a clock that the test moves. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { behaviourOf } from '../../infra/simulator/behaviours/index.ts';
import { checkParameters } from '../../infra/simulator/parameters.ts';
import type { Rejection } from '../../infra/simulator/refusal.ts';
import { createWorld, type World } from '../../infra/simulator/world.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { testTime } from './support.ts';

// Answers are read in so many shapes that the tests name only what they look at.
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type Json = any;

export interface Player {
  readonly world: World;
  now: number;
  /** The answer, which must fit the operation's schema. */
  ask(operationId: string, query?: Readonly<Record<string, string>>, body?: unknown): Json;
  /** The refusal's error code. */
  refused(operationId: string, query?: Readonly<Record<string, string>>, body?: unknown): string;
  /** All records of an operation with a cursor, and how many pages they came on. */
  pages(operationId: string, query: Readonly<Record<string, string>>, meanwhile?: () => void): Pages;
}

export interface Pages {
  readonly records: readonly Json[];
  readonly count: number;
}

export function play(world: World = createWorld(1)): Player {
  const player: Player = {
    world,
    now: testTime,
    ask(id, query = {}, body) {
      const reply = call(player, id, query, body);
      assert.ok(reply.ok, `${id}: ${'message' in reply && reply.message}`);
      const { response } = operationOf(id);
      // Over the wire it would be JSON.
      const answer = JSON.parse(JSON.stringify(reply.payload));
      const fit = v.safeParse(response, answer);
      assert.deepEqual(
        fit.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`),
        undefined,
        id,
      );
      return answer;
    },
    refused(id, query = {}, body) {
      const reply = call(player, id, query, body);
      assert.ok(!reply.ok, `${id} was answered`);
      assert.equal(reply.status, reply.error_code === 'ACCOUNT_ACCESS_DENIED' ? 403 : 417);
      return reply.error_code;
    },
    pages(id, query, meanwhile) {
      const records: Json[] = [];
      let cursor: string | undefined;
      let count = 0;
      do {
        const page = player.ask(id, { ...query, ...(cursor && { pagination_key: cursor }) });
        records.push(...page.data);
        cursor = page.pagination_key;
        count++;
        meanwhile?.();
        assert.ok(count < 1000, 'pages without end');
      } while (cursor);
      return { records, count };
    },
  };
  return player;
}

function operationOf(id: string) {
  const operation = operations.find((one) => one.id === id);
  assert.ok(operation, id);
  return operation;
}

function call(
  { world, now }: Player,
  id: string,
  query: Readonly<Record<string, string>>,
  body: unknown,
): { ok: true; payload: unknown } | Rejection {
  const operation = operationOf(id);
  const text = body === undefined ? '' : JSON.stringify(body);
  const checked = checkParameters(operation, Object.entries(query), Buffer.from(text));
  if (!checked.ok) return checked;
  return behaviourOf(id)({ operation, query: checked.query, body: checked.body, now }, world);
}

/** The moment of a bar, whose text no date parser has to understand. */
export function barTime({ time }: { readonly time: string }): number {
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/);
  return Date.parse(time.replace('+0000', 'Z'));
}

/** Whole cents of a decimal text with two decimals. */
export function cents(decimal: string): number {
  assert.match(decimal, /^-?\d+\.\d\d$/);
  return Math.round(Number(decimal) * 100);
}
