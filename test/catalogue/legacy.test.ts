/** Older forms: the paths and parameters that clients in the field send, and what they have of the current operation. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { type Operation, operations } from '../../lib/catalogue/index.ts';
import { checkQuery } from '../../lib/catalogue/validation.ts';

/** Parameters as clients in the field send them: the required ones, and the others. */
const forms: readonly {
  readonly path: string;
  readonly current: string;
  readonly required: string;
  readonly optional: string;
}[] = [
  {
    path: '/openapi/trade/order/open',
    current: 'listOpenOrders',
    required: 'account_id',
    optional: 'page_size last_client_order_id last_order_id',
  },
  {
    path: '/openapi/trade/order/history',
    current: 'listOrderHistory',
    required: 'account_id',
    optional: 'page_size start_date end_date start_time end_time last_client_order_id last_order_id',
  },
  {
    path: '/openapi/instrument/option/contracts',
    current: 'listOptionContracts',
    required: 'category',
    optional:
      'underlying_symbols option_symbol root_symbol status start_date end_date option_type style strike_price_gte strike_price_lte ppind show_deliverables page_size last_instrument_id',
  },
  {
    path: '/openapi/market-data/option/bars',
    current: 'listOptionBars',
    required: 'symbols category timespan',
    optional: 'count real_time_required start_time end_time',
  },
  {
    path: '/openapi/market-data/screener/gainers-losers',
    current: 'listGainersLosers',
    required: 'rank_type category',
    optional: 'sort_by direction page_index page_size',
  },
  {
    path: '/openapi/market-data/screener/top-active',
    current: 'listTopActive',
    required: 'category rank_type',
    optional: 'sort_by direction page_index page_size',
  },
  {
    path: '/openapi/market-data/screener/market-sectors',
    current: 'listMarketSectors',
    required: 'category',
    optional: 'agg_type period direction page_index page_size',
  },
  {
    path: '/openapi/market-data/screener/market-sectors-detail',
    current: 'getMarketSectorDetail',
    required: 'sector_id category',
    optional: 'period sort_by direction page_index page_size',
  },
  {
    path: '/openapi/market-data/screener/high-dividend',
    current: 'listHighDividendRank',
    required: 'category',
    optional: 'sort_by direction page_index page_size',
  },
  {
    path: '/openapi/market-data/screener/52whl',
    current: 'listWeek52HighLow',
    required: 'rank_type category',
    optional: 'sort_by direction page_index page_size',
  },
  {
    path: '/openapi/fundamentals/fund/dividends',
    current: 'getFundDividends',
    required: 'symbol category',
    optional: 'page_index page_size',
  },
];

const older = operations.filter(({ legacyOf }) => legacyOf);
const byId = (id: string) => {
  const found = operations.find((operation) => operation.id === id);
  assert.ok(found, id);
  return found;
};
const words = (text: string) => text.split(' ').filter(Boolean);

test('there are eleven, after all current operations', () => {
  assert.deepEqual(older.map(({ path }) => path).sort(), forms.map(({ path }) => path).sort());
  assert.deepEqual(operations.slice(-older.length), older);
});

for (const { path, current: currentId, required, optional } of forms)
  describe(path, () => {
    const operation = older.find((one) => one.path === path)!;
    const current = byId(currentId);
    const accepts = (query: Readonly<Record<string, string>>) =>
      checkQuery(operation, Object.entries({ ...operation.example.query, ...query })).errors.length === 0;

    test('takes the parameters that clients send', () => {
      const names = (isRequired: boolean) =>
        Object.keys(operation.query)
          .filter((name) => operation.query[name]!.required === isRequired)
          .sort();
      assert.deepEqual(names(true), words(required).sort());
      assert.deepEqual(names(false), words(optional).sort());
    });

    test('has all else of the current operation, which it names', () => {
      const has = ({ group, limit, freshness, sideEffect, body }: Operation) => ({
        group,
        limit,
        freshness,
        sideEffect,
        body,
      });
      assert.deepEqual(has(operation), has(current));
      assert.deepEqual([operation.method, operation.aliases, operation.legacyOf], ['GET', [], current.id]);
      assert.ok(operation.deprecated?.includes(current.id));
      assert.ok(operation.id.toLowerCase() === `legacy${current.id}`.toLowerCase());
      assert.ok(operation.sources.path.includes('observed'));
    });

    test('takes numbers in digits and flags in any case', () => {
      for (const [name, { json }] of Object.entries(operation.query)) {
        if (json.type === 'boolean')
          for (const value of ['true', 'False', 'TRUE']) assert.ok(accepts({ [name]: value }), value);
        if (json.type === 'boolean') assert.ok(!accepts({ [name]: '1' }));
        if (name === 'page_size' || name === 'page_index') {
          for (const value of ['10', '010', '100']) assert.ok(accepts({ [name]: value }), value);
          for (const value of ['0', '-1', '1.5', 'ten', '9'.repeat(9)])
            assert.ok(!accepts({ [name]: value }), value);
        }
      }
    });
  });

test('an answer in another envelope does not fit', () => {
  const shapes = { bare: [{}], rank: { has_more: true, data: [{}] }, sector: { id: '6412', data: [{}] } };
  const shapeOf = (id: string): keyof typeof shapes => {
    if (/SectorDetail/.test(id)) return 'sector';
    return /Losers|Active|DividendRank|HighLow/.test(id) ? 'rank' : 'bare';
  };
  for (const { id, response } of older) {
    const own = shapeOf(id);
    const issuesOf = (answer: object) =>
      v.safeParse(response, answer).issues?.map((issue) => v.getDotPath(issue)) ?? [];
    // What is wrong within a record is not the question here.
    const enveloped = (issues: readonly (string | null)[]) =>
      issues.filter((path) => path === null || /^(has_more|data|id)$/.test(path));
    for (const [name, answer] of Object.entries(shapes))
      assert.equal(enveloped(issuesOf(answer)).length === 0, name === own, `${id} as ${name}`);
    assert.ok(
      enveloped(issuesOf({ data: [{}], pagination_key: 'x' })).length > 0,
      `${id} as the current one`,
    );
  }
});

test('the history takes a period in every form that clients send', () => {
  const check = (value: string) =>
    checkQuery(
      byId('legacyListOrderHistory'),
      ['start_date', 'end_date', 'start_time', 'end_time'].map((name) => [name, value] as const),
    ).pairs.map(([, sent]) => sent);
  for (const good of [
    '2026-10-21',
    '2026-10-21T13:30:00Z',
    '2026-10-21T13:30:00.000Z',
    '2026-10-21T13:30:00.000+0000',
    '2026-10-21 13:30:00',
    '1792589400000',
  ])
    assert.deepEqual(check(good), [good, good, good, good]);
  for (const bad of ['yesterday', '2026-10', '21.10.2026', '1'.repeat(16), '2026-10-21T', ''])
    assert.deepEqual(check(bad), []);
});
