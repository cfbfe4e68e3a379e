/** The published schemas: complete, and in agreement with what is taken and given. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'vitest';
import { readsOf } from '../../../functions/settings/lookup-settings.ts';
import { eventSchemas } from '../../../infra/events/schemas.ts';
import { openable, operations } from '../../../lib/catalogue/index.ts';
import { eventNames, parseRequest } from '../../../lib/events/index.ts';
import { orderSettledName } from '../../../lib/orders/settled-event.ts';
import { tradeEventNames } from '../../../lib/trade-events/index.ts';
import { createWorld, quotes } from '../../lookups/world.ts';
import { eventValidators, mutated, publishedSchemas } from '../event-validators.ts';

const validators = eventValidators();
const accepts = (name: string, detail: unknown) => {
  const validate = validators[name];
  assert.ok(validate, name);
  return validate(detail);
};
const reads = readsOf(operations, openable);

test('the package has the schema of every event, under the path that it exports', () => {
  const files = publishedSchemas();
  assert.deepEqual(
    Object.keys(files).sort(),
    [...Object.values(eventNames), tradeEventNames, { settled: orderSettledName }]
      .flatMap((names): string[] => Object.values(names))
      .map((name) => `${name}.json`)
      .sort(),
  );
  for (const [name, schema] of Object.entries(eventSchemas()))
    assert.deepEqual(files[`${name}.json`], schema);
  const text = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
  const manifest = JSON.parse(text) as Record<'exports' | 'scripts', Record<string, string>> & {
    readonly files: readonly string[];
  };
  assert.equal(manifest.exports['./events/*.json'], './dist/events/*.json');
  assert.ok(manifest.files.includes('dist/events'));
  assert.match(manifest.scripts.build ?? '', / events$/);
});

test('every read by its example is accepted by its schema and by the function; what is spoilt by neither', () => {
  for (const { id, example, query } of reads) {
    const lists = Object.entries(example.query ?? {}).map(([name, text]) => {
      const { json, list } = query[name] ?? {};
      const typed = (one: string) =>
        json?.type === 'integer' ? Number(one) : json?.type === 'boolean' ? one === 'true' : one;
      return [name, list ? text.split(list.separator).map(typed) : typed(text)];
    });
    const detail = {
      request_id: `example-${id}`,
      operation: id,
      ...(lists.length > 0 && { query: Object.fromEntries(lists) }),
      ...(example.body !== undefined && { body: example.body }),
      deadline_seconds: 60,
    };
    const parsed = parseRequest(detail, operations);
    assert.ok(parsed.ok, JSON.stringify(parsed));
    assert.ok(accepts(eventNames.read.requested, detail), id);
    for (const wrong of [
      ...mutated(detail, true),
      { ...detail, query: { unheard_of: '1' } },
      { ...detail, operation: 'placeOrder' },
    ]) {
      assert.ok(!accepts(eventNames.read.requested, wrong), JSON.stringify(wrong));
      assert.ok(!parseRequest(wrong, operations).ok, JSON.stringify(wrong));
    }
  }
});

test('a lookup that the schema accepts is taken, and one that it refuses is not', () => {
  const odd = fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    ' ',
    'A',
    'a,b',
    'A&B',
    0,
    1,
    -1,
    0.5,
    1e6,
    true,
    [],
    ['A'],
    {},
  );
  const mostly = (good: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 10, arbitrary: good }, { weight: 10, arbitrary: fc.constant(undefined) }, odd);
  const moment = fc.constantFrom(
    '2026-11-20T15:00:00Z',
    '2026-11-20T15:00:00.123Z',
    '2026-11-20',
    '1999-01-01T00:00:00Z',
  );
  const detail = fc.record(
    {
      request_id: fc.oneof(
        { weight: 15, arbitrary: fc.constantFrom('r', 'a:b/c#1', '-', 'x'.repeat(257)) },
        odd,
      ),
      symbols: fc.oneof(
        {
          weight: 15,
          arbitrary: fc.array(fc.constantFrom('AAPL', 'MSFT', 'BRK B', 'NVDA', 'TSLA', 'IBM', ' A', 'ü'), {
            maxLength: 3,
          }),
        },
        odd,
      ),
      category: fc.oneof({ weight: 15, arbitrary: fc.constantFrom('US_STOCK', 'US_ETF', 'US') }, odd),
      extend_hour_required: mostly(fc.boolean()),
      max_age_seconds: mostly(fc.integer({ min: -1, max: 86_401 })),
      deadline: mostly(moment),
      deadline_seconds: mostly(fc.integer({ min: 0, max: 43_201 })),
      other: fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, odd),
    },
    { requiredKeys: ['request_id', 'symbols', 'category'] },
  );
  let taken = 0;
  fc.assert(
    fc.property(detail, (given) => {
      const sent = JSON.parse(JSON.stringify(given)) as object;
      const { ok } = parseRequest(sent, operations);
      assert.equal(accepts(eventNames.quotes.requested, sent), ok, JSON.stringify(sent));
      if (ok) taken++;
    }),
    { numRuns: 3000 },
  );
  assert.ok(taken > 100, `${taken}`);
});

test('every reply is accepted, and what is spoilt is not', async () => {
  const world = createWorld();
  const read = { operation: 'getStockSnapshots', query: { symbols: 'A', category: 'US_STOCK' } };
  const record = '{"symbol":"A","price":"1.10","volume":"1E8"}';
  const replied = async (upstream: (typeof world)['upstream'], ...requests: object[]) => {
    world.upstream = upstream;
    for (const request of requests) world.send(request);
    await world.run();
  };
  await replied(() => `[${record}]`, quotes(['A', 'B']), { request_id: 'read', ...read });
  await replied(() => `[${Array(6000).fill(record)}]`, { request_id: 'pieces', ...read });
  const upstream = { status: 417, errorCode: 'INVALID_SYMBOL', message: 'no such' };
  await replied(() => ({ code: 'data_not_subscribed', upstream }), quotes(['A']), {
    request_id: 'no',
    ...read,
  });
  await replied(() => ({ code: 'upstream_timeout' }), quotes(['A'], { deadline_seconds: 1 }));
  await replied(() => '[]', { ...quotes(['A']), category: 'x' }, { request_id: 'wrong', operation: 'x' });
  const names = new Set(world.published.map(({ detailType }) => detailType));
  assert.deepEqual([...names].sort(), [
    'QuoteLookupCompleted',
    'QuoteLookupFailed',
    'ReadCompleted',
    'ReadFailed',
  ]);
  for (const { detailType, detail } of world.published) {
    assert.ok(accepts(detailType, JSON.parse(detail)), detail.slice(0, 500));
    for (const wrong of mutated(JSON.parse(detail), false))
      assert.ok(!accepts(detailType, wrong), JSON.stringify(wrong).slice(0, 500));
  }
});
