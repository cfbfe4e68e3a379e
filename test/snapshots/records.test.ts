/** Records keep the upstream's bytes, whatever stands in them. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { cutRecords, joinRecords } from '../../lib/cache/snapshots/records.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (body: Uint8Array | undefined) => new TextDecoder().decode(body);
const space = fc.constantFrom('', ' ', '\n', '\t\r ');

/** JSON texts as nobody's serialiser writes them: odd white space, escapes, numbers and order. */
const value: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('1.10', '-0', '1E400', '12345678901234567890', 'true', 'null', '""'),
    fc.string({ unit: 'binary' }).map((one) => JSON.stringify(one)),
    fc.constantFrom('"{\\"symbol\\":\\"NO\\"}"', '"\\\\"', '"]"', '"\\u0022}"', '"symbol"'),
    fc
      .tuple(space, fc.array(tie('value'), { maxLength: 3 }))
      .map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
    fc
      .tuple(space, fc.array(fc.tuple(name(true), tie('value')), { maxLength: 3 }))
      .map(
        ([gap, members]) => `{${members.map(([key, one]) => `${key}${gap}:${gap}${one}`).join(`,${gap}`)}}`,
      ),
  ),
})).value;

/** Within a record only names of deeper objects may be `symbol`. */
function name(deep: boolean): fc.Arbitrary<string> {
  const names = deep ? ['"symbol"', '"price"', '"\\u0073ymbol"'] : ['"price"', '"symbol2"', '"\\"symbol"'];
  return fc.constantFrom(...names);
}

const symbolMember = fc
  .tuple(fc.constantFrom('"symbol"', '"\\u0073ymbol"'), space, fc.string({ unit: 'grapheme', minLength: 1 }))
  .map(([key, gap, symbol]) => ({ symbol, member: `${key}${gap}:${gap}${JSON.stringify(symbol)}` }));

const record = fc
  .tuple(
    space,
    fc.array(fc.tuple(name(false), value), { maxLength: 4 }),
    symbolMember,
    fc.array(fc.tuple(name(false), value), { maxLength: 2 }),
  )
  .map(([gap, before, { symbol, member }, after]) => ({
    symbol,
    text: `{${gap}${[...before.map(pair), member, ...after.map(pair)].join(`${gap},`)}${gap}}`,
  }));
const pair = ([key, one]: readonly [string, string]) => `${key}:${one}`;

test('each record is exactly its bytes, of a symbol that comes twice the last', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 8 }), space, (records, gap) => {
      const body = `${gap}[${gap}${records.map((one) => one.text).join(`${gap},${gap}`)}${gap}]${gap}`;
      assert.doesNotThrow(() => JSON.parse(body));
      const cut = cutRecords(bytes(body));
      assert.ok(cut);
      const expected = new Map(records.map((one) => [one.symbol, one.text]));
      assert.deepEqual(new Map([...cut].map(([symbol, one]) => [symbol, text(one)])), expected);
    }),
    { numRuns: 500 },
  );
});

test('what was cut and joined is cut into the same, in the order asked', () => {
  fc.assert(
    fc.property(fc.uniqueArray(record, { selector: (one) => one.symbol, maxLength: 6 }), (records) => {
      const reversed = records.toReversed();
      const body = joinRecords(reversed.map((one) => bytes(one.text)));
      assert.equal(text(body), `[${reversed.map((one) => one.text).join(',')}]`);
      assert.deepEqual(
        [...(cutRecords(body) ?? [])].map(([symbol]) => symbol),
        reversed.map((one) => one.symbol),
      );
    }),
  );
});

test('what is no array of records is not cut', () => {
  for (const body of [
    '',
    '{}',
    '{"symbol":"A"}',
    'null',
    '[1]',
    '[null]',
    '[{"symbol":1}]',
    '[{"price":"1"}]',
    '[{"inner":{"symbol":"A"}}]',
    '[{"symbol":"A"}',
    '[{"symbol":"A"},]',
    '[{"symbol":"A"}{"symbol":"B"}]',
    '[{"symbol":"A"}] x',
    '[{"symbol":"A',
    '[{"symbol":"A"}]]',
    `[{"symbol":"${'A'.repeat(2000)}"}]`,
  ])
    assert.equal(cutRecords(bytes(body)), undefined, body);
  assert.equal(cutRecords(bytes(' [ ] '))?.size, 0);
});

test('what has more records than anybody asks for is not cut either', () => {
  const body = (count: number) => bytes(`[${Array.from({ length: count }, () => '{"symbol":"A"}')}]`);
  assert.equal(cutRecords(body(3), 3)?.size, 1);
  assert.equal(cutRecords(body(4), 3), undefined);
  assert.equal(cutRecords(body(4))?.size, 1);
});

test('a record keeps nothing of the body that it was cut from, be it a Buffer', () => {
  const body = '[{"symbol":"A","price":"1.10"},{"symbol":"B","price":"2"}]';
  for (const from of [Buffer.from(body), bytes(body)])
    for (const record of cutRecords(from)!.values())
      assert.deepEqual([record.buffer.byteLength, record.byteOffset], [record.length, 0]);
});
