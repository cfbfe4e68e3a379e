/** Each request that its entry allows is answered with what fits, or refused with a code. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { behaviourOf } from '../../../infra/simulator/behaviours/index.ts';
import { checkParameters } from '../../../infra/simulator/parameters.ts';
import { createWorld } from '../../../infra/simulator/world.ts';
import { type Operation, operations } from '../../../lib/catalogue/index.ts';
import type { Parameter } from '../../../lib/catalogue/parameters.ts';
import { testTime } from '../support.ts';

const appKey = 'any-app-key';

const words = fc.constantFrom(
  'AAPL',
  'QQQ',
  'NOPE9',
  'AAPL270115C00240000',
  'AAPL260115P00000001',
  'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
  'gw-20261020-000001',
  '40218837',
  '6412',
  'USD',
  '930000017',
  Buffer.from('p1|0|AAPL270115C00240000').toString('base64url'),
  Buffer.from('p1|1|-5').toString('base64url'),
  Buffer.from('p1|1|7').toString('base64url'),
);
const days = fc.constantFrom(
  '0000-01-01',
  '1970-01-01',
  '2016-01-04',
  '2026-11-17',
  '2027-01-15',
  '9999-12-31',
);
const decimals = fc.constantFrom('0', '1', '0.00001', '228.50', '999999999999999', '1E3', '-5', '.5', '1.');

function textsOf({ json, list }: Parameter): fc.Arbitrary<string> {
  const one: fc.Arbitrary<string> = json.enum
    ? fc.constantFrom(...json.enum)
    : json.type === 'boolean'
      ? fc.constantFrom('true', 'false')
      : json.type === 'integer'
        ? fc
            .oneof(
              fc.constantFrom(json.minimum ?? 0, json.maximum ?? 0, testTime, testTime - 86_400_000),
              fc.integer({ min: 1, max: 30 }),
            )
            .map(String)
        : json.format === 'date'
          ? days
          : json.format === 'date-time'
            ? days.map((day) => `${day}T12:00:00.000Z`)
            : fc.oneof(words, decimals);
  return list ? fc.array(one, { minLength: 1, maxLength: 3 }).map((all) => all.join(',')) : one;
}

/** The example's parameters with some of them left out, changed or added. */
function queryOf({ query, example }: Operation): fc.Arbitrary<Record<string, string>> {
  const changes = Object.entries(query).map(([name, parameter]) =>
    fc
      .oneof(
        { weight: 2, arbitrary: fc.constant(example.query?.[name]) },
        { weight: 1, arbitrary: textsOf(parameter) },
      )
      .map((value) => (value === undefined ? [] : [[name, value] as const])),
  );
  return fc.tuple(...changes).map((all) => Object.fromEntries(all.flat()));
}

const texts = fc.oneof(
  words,
  days,
  decimals,
  fc.constantFrom(
    'BUY',
    'SELL',
    'SHORT',
    'MARKET',
    'LIMIT',
    'STOP_LOSS',
    'STOP_LOSS_LIMIT',
    'TRAILING_STOP_LOSS',
    'PERCENTAGE',
    'AMOUNT',
    'GTD',
    'IOC',
    'FOK',
    'EQUITY',
    'OPTION',
    'MASTER',
    'OCO',
    'OTO',
    'D',
    'Y',
    'M',
    'US_ETF',
    'PUT',
  ),
);

/** The example's body, some of whose texts and numbers are others, and some members away. */
function bodyOf(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value))
    return fc
      .tuple(
        ...value.map(bodyOf),
        fc.nat(9).map((chance) => chance === 0),
      )
      .map((all) => (all.pop() ? [...all, ...all] : all));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, inner]) =>
      fc.option(bodyOf(inner), { freq: 30, nil: undefined }).map((made) => [name, made] as const),
    );
    const more = fc.dictionary(
      fc.constantFrom(
        'stop_price',
        'limit_price',
        'expire_date',
        'trailing_type',
        'trailing_stop_step',
        'total_cash_amount',
        'client_combo_order_id',
        'name',
        'sort',
      ),
      texts,
      { maxKeys: 2 },
    );
    return fc
      .tuple(fc.tuple(...members), more)
      .map(([all, extra]) => ({ ...extra, ...Object.fromEntries(all) }));
  }
  const others: fc.Arbitrary<unknown> =
    typeof value === 'number' ? fc.integer({ min: -1, max: 2000 }) : texts;
  return fc.oneof({ weight: 20, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: others });
}

describe('any request of', () => {
  const readOnly = createWorld(1);
  for (const operation of operations)
    test(operation.id, () => {
      const world = operation.sideEffect ? createWorld(1) : readOnly;
      const { session_id: session } = { ...(operation.example.body as { readonly session_id?: string }) };
      if (session) world.streamSessions.connect(session, appKey, { drop: () => {} }, testTime);
      let [answered, now] = [0, testTime];
      const asked = fc.record({
        query: queryOf(operation),
        body: operation.body ? bodyOf(operation.example.body) : fc.constant(undefined),
        later: fc.oneof(
          { weight: 30, arbitrary: fc.constantFrom(0, 1000, 3000) },
          { weight: 1, arbitrary: fc.constant(86_400_000) },
        ),
      });
      fc.assert(
        fc.property(asked, ({ query, body, later }) => {
          // State stays from one call to the next, as it does in the simulator.
          now += later;
          const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
          const checked = checkParameters(operation, Object.entries(query), bytes);
          if (!checked.ok) return;
          const call = { operation, query: checked.query, body: checked.body, now, appKey };
          const reply = behaviourOf(operation.id)(call, world);
          if (!reply.ok) {
            assert.equal(reply.status, reply.error_code === 'ACCOUNT_ACCESS_DENIED' ? 403 : 417);
            assert.match(reply.error_code, /^[A-Z_0-9]+$/);
            return;
          }
          answered++;
          const answer = JSON.parse(JSON.stringify(reply.payload));
          const fit = v.safeParse(operation.response, answer);
          assert.deepEqual(
            fit.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`),
            undefined,
          );
        }),
        { numRuns: 100 },
      );
      assert.ok(answered > 0, 'none was answered');
    });
});
