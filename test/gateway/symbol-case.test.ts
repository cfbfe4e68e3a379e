/** A symbol in lower case that the upstream refuses: the refusal says how it is written, and the upstream's words stay. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { getStockQuotes } from '../../lib/catalogue/index.ts';
import { createMemoryCacheStores } from '../../lib/gateway/index.ts';
import { ask, coreFor, type Draft, orderBody, orderPath, problemOf, snapshotPath } from '../support/core.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const stocks = 'category=US_STOCK';

describe('a refusal of', () => {
  for (const [name, target, draft, sentence] of [
    [
      'one symbol',
      `${snapshotPath}?symbols=aapl&${stocks}`,
      {},
      'Symbol not known, aapl. Symbols are in upper case: AAPL.',
    ],
    [
      'some of several',
      `${snapshotPath}?symbols=NOSUCH,aapl,Msft&${stocks}`,
      {},
      'Symbols are in upper case: AAPL, MSFT.',
    ],
    [
      'one at another operation',
      `${getStockQuotes.path}?symbol=ko&${stocks}`,
      {},
      'Symbols are in upper case: KO.',
    ],
    [
      'one of an order',
      orderPath,
      { body: orderBody({ symbol: 'aapl' }) },
      'Symbols are in upper case: AAPL.',
    ],
  ] satisfies (readonly [string, string, Draft, string])[])
    test(`${name} in lower case names it in upper case`, async (t) => {
      const { gateway } = await coreFor(t);
      const problem = problemOf(await ask(gateway, target, draft));
      assert.equal(problem.code, 'upstream_rejected');
      assert.ok(problem.detail.endsWith(sentence), problem.detail);
      // What the upstream wrote passes unchanged.
      assert.equal(problem.message, problem.upstream_message);
      assert.doesNotMatch(problem.message, /upper case/);
    });

  test('cached symbols says so, too', async (t) => {
    const { gateway } = await coreFor(t, {}, { cache: createMemoryCacheStores() });
    for (let time = 0; time < 2; time++) {
      const problem = problemOf(await ask(gateway, `${snapshotPath}?symbols=aapl&${stocks}`));
      assert.match(problem.detail, /Symbol not known, aapl\. Symbols are in upper case: AAPL\.$/);
    }
  });

  test('a hundred symbols names five', async (t) => {
    const { gateway } = await coreFor(t);
    const symbols = Array.from({ length: 100 }, (_, index) => `no${index}such`).join(',');
    const problem = problemOf(await ask(gateway, `${snapshotPath}?symbols=${symbols}&${stocks}`));
    assert.match(problem.detail, /: NO0SUCH, NO1SUCH, NO2SUCH, NO3SUCH, NO4SUCH\.$/);
  });
});

describe('nothing is said of the case', () => {
  test('of a symbol in upper case', async (t) => {
    const { gateway } = await coreFor(t);
    problemOf(await ask(gateway, `${snapshotPath}?symbols=NOSUCH&${stocks}`), {
      detail: 'The upstream refused the request: Symbol not known, NOSUCH',
    });
  });

  for (const [status, error_code, message] of [
    [417, 'TOO_MANY_SYMBOLS', 'too many'],
    [417, 'INVALID_PARAMETER', 'Parameter error, category'],
    [403, 'MARKET_DATA_NOT_SUBSCRIBED', 'aapl'],
    [500, 'INVALID_SYMBOLS', 'aapl'],
  ] as const)
    test(`where the upstream refuses for another reason: ${status} ${error_code}`, async (t) => {
      const { gateway } = await coreFor(t, {
        fault: () => ({ kind: 'status', status, body: { error_code, message } }),
      });
      const problem = problemOf(await ask(gateway, `${snapshotPath}?symbols=aapl&${stocks}`));
      assert.doesNotMatch(problem.detail, /upper case/);
    });

  test('where the upstream knows the symbol in that form', async (t) => {
    const { gateway } = await coreFor(t, {
      fault: () => ({ kind: 'status', status: 200, body: [{ symbol: 'brk.a', price: '1' }] }),
    });
    const reply = await ask(gateway, `${snapshotPath}?symbols=brk.a&${stocks}`);
    assert.equal(reply.status, 200);
    assert.equal(reply.text, '[{"symbol":"brk.a","price":"1"}]');
  });
});
