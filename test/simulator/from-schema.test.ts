import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as v from 'valibot';
import { test } from 'vitest';
import { exampleAnswer } from '../../infra/simulator/behaviours/from-schema.ts';
import { behaviourOf } from '../../infra/simulator/behaviours/index.ts';
import type { Operation } from '../../lib/catalogue/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { choice, list, optional, text as textParameter } from '../../lib/catalogue/parameters.ts';
import * as blocks from '../../lib/catalogue/schemas.ts';
import { each } from '../support/each.ts';
import { send, testTime, withSimulator } from './support.ts';

const record = v.looseObject({
  symbol: v.string(),
  price: v.optional(blocks.decimal),
  last_trade_time: v.optional(blocks.moment),
});

/** No behaviour knows it. */
const madeUp: Operation = {
  id: 'listMadeUp',
  group: 'market-data',
  title: 'Made up',
  method: 'GET',
  path: '/made/up/list',
  aliases: ['/older/made/up'],
  query: {
    symbols: list({ description: 'Ticker symbols.' }),
    category: choice(['US_STOCK', 'US_ETF'], { description: 'Category.' }),
    pagination_key: optional(textParameter({ description: 'Cursor.', maxLength: 99 })),
  },
  response: v.looseObject({
    category: v.optional(v.string()),
    data: v.array(record),
    pagination_key: blocks.nextPage,
  }),
  paging: { parameter: 'pagination_key', items: 'data', next: { member: 'pagination_key' } },
  example: { query: { symbols: 'AAPL,QQQ', category: 'US_ETF' } },
  sources: { path: ['inferred'], request: ['inferred'], response: ['inferred'] },
};

test('a made-up operation is answered over HTTP: what was asked comes back, one record for each symbol', async () => {
  await withSimulator({ operations: [madeUp] }, async (simulator) => {
    const ask = (path: string, more = '') =>
      send(simulator, { target: `${path}?symbols=AAPL,QQQ,MSFT&category=US_ETF${more}` });
    const first = await ask('/made/up/list');
    assert.equal(first.status, 200);
    const page = v.parse(madeUp.response, first.json) as v.InferOutput<typeof record> & {
      data: v.InferOutput<typeof record>[];
      pagination_key: string;
    };
    assert.equal(page.category, 'US_ETF');
    assert.deepEqual(each(page.data, 'symbol'), ['AAPL', 'QQQ', 'MSFT']);
    for (const { price, last_trade_time: time } of page.data) {
      assert.ok(price !== undefined, 'optional members are there');
      // Of two forms the first, an integer near the clock.
      assert.ok(typeof time === 'number' && testTime - time >= 0 && testTime - time < 86_400_000);
    }
    assert.equal((await ask('/made/up/list')).text, first.text, 'the same question has the same answer');
    assert.equal((await ask('/older/made/up')).text, first.text);

    const last = await ask('/made/up/list', `&pagination_key=${page.pagination_key}`);
    assert.equal(last.status, 200);
    assert.ok(!('pagination_key' in (last.json as object)), 'pages come to an end');
  });
});

test('another seed, another symbol and another member have other values', () => {
  const query = { symbols: 'AAPL', category: 'US_STOCK' };
  const answer = (change: { seed?: number; query?: Record<string, string> } = {}) =>
    JSON.stringify(exampleAnswer(madeUp, { query, now: testTime, ...change }));
  const others = [answer({ seed: 2 }), answer({ query: { ...query, symbols: 'MSFT' } })];
  assert.ok(!others.includes(answer()) && others[0] !== others[1]);
  const two = { ...madeUp, response: v.object({ open_price: blocks.decimal, close_price: blocks.decimal }) };
  const { open_price, close_price } = exampleAnswer(two, { now: testTime }) as Record<string, string>;
  assert.notEqual(open_price, close_price);
});

test('pages that go on from the last record end too', () => {
  const byRecord: Operation = {
    ...madeUp,
    query: {},
    response: v.array(v.looseObject({ record_id: v.string() })),
    paging: { parameter: 'last_id', next: { ofLastItem: 'record_id' } },
  };
  const first = exampleAnswer(byRecord, { now: testTime }) as readonly { record_id: string }[];
  const last = first.at(-1)!.record_id;
  assert.deepEqual(exampleAnswer(byRecord, { query: { last_id: last }, now: testTime }), []);
  assert.notDeepEqual(exampleAnswer(byRecord, { query: { last_id: 'other' }, now: testTime }), []);
});

test('every operation of the catalogue could be answered so', () => {
  for (const operation of operations) {
    const { query, body } = operation.example;
    for (const seed of [1, 2, 3]) {
      const answer = exampleAnswer(operation, { ...(query && { query }), body, now: testTime, seed });
      const fit = v.safeParse(operation.response, answer);
      assert.deepEqual(
        fit.issues?.map((issue) => v.getDotPath(issue)),
        undefined,
        operation.id,
      );
    }
  }
  assert.equal(behaviourOf('listMadeUp'), behaviourOf('listOther'), 'one behaviour for all that have none');
});

test('a schema that cannot be filled is told by its place', () => {
  const impossible = v.looseObject({
    data: v.array(v.object({ code: v.pipe(v.string(), v.regex(/^§\d$/)) })),
  });
  assert.throws(() => exampleAnswer({ ...madeUp, response: impossible }, { now: testTime }), {
    message: /^listMadeUp\.data\.0\.code: no example fits/,
  });
});

/** Schemas built from the catalogue's own blocks, as deep as its answers are. */
const names = fc.constantFrom(
  'symbol',
  'price',
  'time',
  'ex_date',
  'place_time_at',
  'volume',
  'change_ratio',
  'id',
  'name',
  'pagination_key',
  'status',
  'fiscal_year',
  'count',
  'category',
);
const leaf: fc.Arbitrary<v.GenericSchema> = fc.oneof(
  fc.constantFrom<v.GenericSchema>(
    blocks.decimal,
    blocks.decimalText,
    blocks.epochMilliseconds,
    blocks.moment,
    blocks.momentOrNone,
    blocks.isoMoment,
    blocks.ordinal,
    blocks.integer,
    blocks.day,
    blocks.compactDay,
    blocks.url,
    blocks.text,
    blocks.nextPage,
    v.string(),
    v.number(),
    v.boolean(),
    v.pipe(blocks.decimal, v.description('described')),
    v.literal('fixed'),
    v.null(),
  ),
  fc
    .uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 })
    .map((options) => v.picklist(options)),
  fc
    .tuple(fc.nat(9), fc.nat(9))
    .map(([least, more]) => v.pipe(v.string(), v.minLength(least), v.maxLength(least + more))),
  fc
    .tuple(fc.integer({ min: -99, max: 99 }), fc.nat(9))
    .map(([least, more]) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(least + more))),
);
const { schema } = fc.letrec<{ schema: v.GenericSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    tie('schema').map((inner) => v.optional(inner)),
    tie('schema').map((inner) => v.nullish(inner)),
    tie('schema').map((inner) => v.nullable(inner)),
    tie('schema').map((inner) => v.array(inner)),
    fc.tuple(tie('schema'), fc.nat(4)).map(([inner, least]) => v.pipe(v.array(inner), v.minLength(least))),
    tie('schema').map((inner) => v.record(v.string(), inner)),
    fc.tuple(tie('schema'), tie('schema')).map((options) => v.union(options)),
    fc.dictionary(names, tie('schema'), { maxKeys: 6 }).map((entries) => v.looseObject(entries)),
    fc.dictionary(names, tie('schema'), { maxKeys: 6 }).map((entries) => v.strictObject(entries)),
  ),
}));

test('every schema that is built from the catalogue’s blocks is filled with what fits', () => {
  const asked = fc.record({
    query: fc.dictionary(names, fc.constantFrom('AAPL', '3', '2026-10-21', 'x'), { maxKeys: 4 }),
    now: fc.integer({ min: 0, max: Date.UTC(2100, 0) }),
    seed: fc.nat(),
  });
  const { paging: _paging, ...onePage } = madeUp;
  fc.assert(
    fc.property(schema, asked, (response, call) => {
      const answer = exampleAnswer({ ...onePage, response }, call);
      // What cannot be said in JSON would not arrive as it was made.
      const arrived = answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
      assert.deepEqual(
        v.safeParse(response, arrived).issues?.map((issue) => issue.message),
        undefined,
      );
      assert.deepEqual(exampleAnswer({ ...onePage, response }, call), answer);
    }),
    { numRuns: 1000 },
  );
});
