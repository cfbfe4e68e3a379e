/** What answers write in more than one way, and what the client makes of it. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { addDecimals, createClient, recordsIn, reported, viaGateway } from '../../lib/client/index.ts';
import { catalogue, failure } from './support.ts';

/** A client whose other end gives this answer. */
const answeredWith = (text: string) =>
  createClient(
    catalogue,
    viaGateway({ baseUrl: 'https://example.com', fetch: async () => new Response(text) }),
  );

describe('a number that is not reported', () => {
  test('is undefined, in each of its forms; any other value is itself', () => {
    for (const absent of ['', null, undefined]) assert.equal(reported(absent), undefined);
    fc.assert(
      fc.property(fc.oneof(fc.string({ minLength: 1 }), fc.integer(), fc.double()), (value) => {
        assert.ok(Object.is(reported(value), value));
      }),
    );
  });

  test('has a type that the functions of decimals take once it is known to be there', async () => {
    const client = answeredWith(
      '[{"symbol":"A","delta":"","vega":null,"gamma":"0.1"},{"symbol":"B","delta":"0.2"}]',
    );
    const options = await client.getOptionSnapshots({ symbols: 'A,B', category: 'US_OPTION' });
    const sums = options.map(({ delta, gamma, vega }) =>
      [delta, gamma, vega].map(reported).reduce<string>((sum, one) => addDecimals(sum, one ?? '0'), '0'),
    );
    assert.deepEqual(sums, ['0.1', '0.2']);
  });
});

test('an answer is what a program parses, but for whole numbers from 2^53 on: each is a text of its digits', async () => {
  const long = fc.bigInt({ min: 2n ** 53n }).map(String);
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), long, fc.string(), async (value, digits, text) => {
      const json = JSON.stringify({ text: `${text}:${digits}`, value });
      fc.pre(!/(^|[:[,])-?\d{16}/.test(JSON.stringify(value)));
      const data = await answeredWith(`[{"id": ${digits}, "less": -${digits}}, ${json}]`).listAccounts();
      assert.deepEqual(data, [{ id: digits, less: `-${digits}` }, JSON.parse(json)]);
    }),
  );
});

describe('option bars', () => {
  const query = { symbols: 'AAPL270115C00240000', category: 'US_OPTION', timespan: 'D' } as const;
  const bars = [{ symbol: 'AAPL270115C00240000', instrument_id: '1', result: [] }];

  test('are read from a bare list and from a result, and pass as they came', async () => {
    for (const answer of [bars, { result: bars }]) {
      const { data, text } = await answeredWith(JSON.stringify(answer)).listOptionBars.answer(query);
      assert.deepEqual(recordsIn(data), bars);
      assert.equal(text, JSON.stringify(answer));
    }
  });
});

describe('a change that says whether it succeeded', () => {
  const changes = operations.filter(({ verdict }) => verdict !== undefined);
  const call = (text: string, id: string) =>
    createClient(
      { change: operations.find((one) => one.id === id)! },
      viaGateway({ baseUrl: 'https://example.com', fetch: async () => new Response(text) }),
    ).change;

  test('is every change of a watchlist that exists', () => {
    assert.deepEqual(changes.map(({ id }) => id).sort(), [
      'addWatchlistInstruments',
      'deleteWatchlist',
      'removeWatchlistInstruments',
      'updateWatchlist',
      'updateWatchlistInstruments',
    ]);
  });

  for (const { id, example, sideEffect } of changes)
    describe(id, () => {
      for (const text of ['true', '{"success":true}'])
        test(`${text} is a result, as it came`, async () => {
          assert.deepEqual(await call(text, id)(example.body as never), JSON.parse(text));
        });

      for (const text of ['false', '{"success":false}'])
        test(`${text} is a failure, though its status is 200`, async () => {
          const error = await failure('outcome_unknown', call(text, id)(example.body as never));
          assert.equal(error.findOut, sideEffect?.findOut);
          assert.equal(error.answer?.status, 200);
          assert.match(error.message, /says that it failed/);
        });

      test('{} says neither', async () => {
        const error = await failure('outcome_unknown', call('{}', id)(example.body as never));
        assert.match(error.message, /does not say what became of it/);
      });
    });

  test('false means nothing of the kind elsewhere', async () => {
    assert.equal(await answeredWith('false').listAccounts(), false);
  });
});
