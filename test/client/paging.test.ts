/** `for await` over pages and records, with upstreams that end, repeat and go round in circles. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, type TestContext, test } from 'vitest';
import { createClient, viaGateway } from '../../lib/client/index.ts';
import { each } from '../support/each.ts';
import { accountId, answering, catalogue, failure, throughGateway } from './support.ts';

type Pages = (query: URLSearchParams, request: number) => unknown;

/** A page as the upstream writes it: a program would round its numbers. */
class Text {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** A client whose upstream gives these pages. */
function paged(pages: Pages) {
  const queries: string[] = [];
  const send: typeof fetch = async (input) => {
    const { searchParams } = new URL(`${input}`);
    queries.push(`${searchParams}`);
    const page = pages(searchParams, queries.length);
    return new Response(page instanceof Text ? page.json : JSON.stringify(page));
  };
  const client = createClient(catalogue, viaGateway({ baseUrl: 'https://example.com', fetch: send }));
  return { client, queries };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const history = { account_id: accountId } as const;
const group = (id: string) => ({ combo_type: 'NORMAL', client_order_id: id, orders: [] });
const ids = (items: readonly { client_order_id?: string | undefined }[]) =>
  items.map(({ client_order_id }) => client_order_id);

describe('a cursor beside the records', () => {
  const three: Pages = (query) =>
    ({
      '': { data: [group('1'), group('2')], pagination_key: 'b' },
      b: { data: [], pagination_key: 'c' },
      c: { data: [group('3')] },
    })[query.get('pagination_key') ?? ''];

  test('is followed to the page that has none, past one without records', async () => {
    const { client, queries } = paged(three);
    assert.deepEqual(ids(await all(client.listOrderHistory.items(history))), ['1', '2', '3']);
    assert.deepEqual(queries, [
      `account_id=${accountId}`,
      `account_id=${accountId}&pagination_key=b`,
      `account_id=${accountId}&pagination_key=c`,
    ]);
    const pages = await all(client.listOrderHistory.pages(history));
    assert.deepEqual(
      pages.map(({ data, pagination_key }) => [data?.length, pagination_key]),
      [
        [2, 'b'],
        [0, 'c'],
        [1, undefined],
      ],
    );
  });

  test('starts at the caller’s cursor', async () => {
    const { client, queries } = paged(three);
    await all(client.listOrderHistory.items({ ...history, pagination_key: 'c' }));
    assert.equal(queries.length, 1);
  });

  test('is requested only when the loop needs it', async () => {
    const { client, queries } = paged(three);
    for await (const { client_order_id } of client.listOrderHistory.items(history))
      if (client_order_id === '2') break;
    assert.equal(queries.length, 1);
  });

  for (const end of [undefined, null, ''])
    test(`ends with ${JSON.stringify(end)}, and a page without the list is empty`, async () => {
      const { client } = paged(() => ({ pagination_key: end }));
      assert.deepEqual(await all(client.listOrderHistory.items(history)), []);
      assert.equal((await all(client.listOrderHistory.pages(history))).length, 1);
    });

  for (const [name, next] of [
    ['itself', () => 'a'],
    ['an earlier page', (n: number) => 'abc'[n % 3]],
  ] as const)
    test(`that leads back to ${name} is an error, after the pages before it`, async () => {
      const { client, queries } = paged((_, n) => ({ data: [group(`${n}`)], pagination_key: next(n) }));
      const seen: unknown[] = [];
      const read = async () => {
        for await (const item of client.listOrderHistory.items(history)) seen.push(item);
      };
      const error = await failure('broken_answer', read());
      assert.match(error.message, /leads back to a page/);
      assert.equal(seen.length, queries.length);
      assert.ok(queries.length <= 4);
    });

  test('whose page is no page is an error', async () => {
    for (const data of ['text', { '0': 1 }, 7]) {
      const { client } = paged(() => ({ data }));
      await failure('broken_answer', all(client.listOrderHistory.items(history)));
    }
    const { client } = paged(() => ({ data: [] }));
    await failure('broken_answer', all(client.getStockInstrument.items({ category: 'US_STOCK' })));
  });

  test('between pages the signal counts, and a wrong call is not sent at all', async () => {
    const { client, queries } = paged(three);
    const controller = new AbortController();
    const reason = new Error('enough');
    const read = async () => {
      for await (const _ of client.listOrderHistory.pages(history, { signal: controller.signal }))
        controller.abort(reason);
    };
    await assert.rejects(read(), (error) => error === reason);
    assert.equal(queries.length, 1);
    await failure('invalid_request', all(client.listOrderHistory.items({ account_id: '' })));
    assert.equal(queries.length, 1);
  });
});

describe('the last record as the cursor', () => {
  const fund = { symbol: 'QQQ', category: 'US_STOCK' } as const;
  const days = Array.from({ length: 28 }, (_, at) => ({
    date: `2026-02-${String(28 - at).padStart(2, '0')}`,
  }));

  /** `again` is whether the next page repeats the record that it continues from. */
  const from =
    (count: number, again: boolean, records = days): Pages =>
    (query) => {
      const last = query.get('last_date');
      const at = last ? records.findIndex(({ date }) => date === last) + (again ? 0 : 1) : 0;
      return records.slice(at, at + count);
    };

  test('gives each record once, whether or not the next page repeats it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 28 }),
        fc.integer({ min: 2, max: 10 }),
        fc.boolean(),
        async (length, count, again) => {
          const records = days.slice(0, length);
          const { client } = paged(from(count, again, records));
          assert.deepEqual(await all(client.getFundNetValues.items(fund)), records);
          assert.deepEqual((await all(client.getFundNetValues.pages(fund))).flat().length >= length, true);
        },
      ),
    );
  });

  test('starts after the caller’s cursor, whose record the caller has', async () => {
    for (const again of [true, false]) {
      const { client } = paged(from(3, again));
      const items = await all(client.getFundNetValues.items({ ...fund, last_date: '2026-02-05' }));
      assert.deepEqual(items, days.slice(again ? 23 : 24));
    }
    const { client } = paged(() => [{ date: '2026-02-05' }]);
    const start = { ...fund, last_date: '2026-02-05' };
    assert.equal((await all(client.getFundNetValues.items(start))).length, 1);
  });

  test('an upstream that ignores it gives its page once', async () => {
    const { client, queries } = paged(() => days.slice(0, 3));
    assert.deepEqual(await all(client.getFundNetValues.items(fund)), days.slice(0, 3));
    assert.equal(queries.length, 2);
  });

  test('one that goes round in circles is an error', async () => {
    const { client } = paged((_, n) => [{ date: days[n % 3]?.date }]);
    await failure('broken_answer', all(client.getFundNetValues.items(fund)));
  });

  test('and so is a record without it', async () => {
    const { client } = paged(() => [{ net_value: '1' }]);
    const error = await failure('broken_answer', all(client.getFundNetValues.items(fund)));
    assert.match(error.message, /the last record has no date/);
  });
});

describe('a cursor that is a number from 2^53 on', () => {
  // As binary numbers, the first two are the same one, and so are the last two.
  const numbers = ['9007199254740992', '9007199254740993', '12345678901234567891', '12345678901234567892'];

  test('is the id of the last record: all records arrive, with the digits that were sent', async () => {
    const { client, queries } = paged((query) => {
      const from = numbers.indexOf(query.get('last_instrument_id') ?? '') + 1;
      const page = numbers.slice(from, from + 1).map((id) => `{ "symbol" : "1,2", "instrument_id" : ${id} }`);
      return new Text(`[${page}]`);
    });
    const items = await all(client.getStockInstrument.items({ category: 'US_STOCK' }));
    assert.deepEqual(each(items, 'instrument_id'), numbers);
    assert.deepEqual(
      queries.map((query) => new URLSearchParams(query).get('last_instrument_id')),
      [null, ...numbers],
    );
  });

  test('stands beside the records, and leads to each page', async () => {
    const { client, queries } = paged((query) => {
      const next = numbers[numbers.indexOf(query.get('pagination_key') ?? '') + 1];
      return new Text(`{"data":[]${next ? `,"pagination_key":${next}` : ''}}`);
    });
    await all(client.listOrderHistory.pages(history));
    assert.deepEqual(
      queries.map((query) => new URLSearchParams(query).get('pagination_key')),
      [null, ...numbers],
    );
  });
});

describe('through the gateway', () => {
  const collect = async (t: TestContext) => {
    const { client, simulator } = await throughGateway(t);
    return { client, count: () => simulator.received.length };
  };

  test('all stock instruments arrive, each once', async (t) => {
    const { client, count } = await collect(t);
    const items = await all(client.getStockInstrument.items({ category: 'US_STOCK' }));
    assert.equal(new Set(items.map(({ instrument_id }) => instrument_id)).size, items.length);
    assert.ok(count() >= 1);
  });

  test('a page lost on the way ends the loop with its error', async (t) => {
    const url = await answering(t, (request, response) => {
      if (request.url?.includes('pagination_key')) response.destroy();
      else response.end(JSON.stringify({ data: [{ symbol: 'A' }], pagination_key: 'b' }));
    });
    const { listStockInstruments } = createClient(catalogue, viaGateway({ baseUrl: url }));
    const seen: unknown[] = [];
    const read = async () => {
      for await (const { symbol } of listStockInstruments.items({ category: 'US_STOCK' })) seen.push(symbol);
    };
    await failure('unreachable', read());
    assert.deepEqual(seen, ['A']);
  });
});
