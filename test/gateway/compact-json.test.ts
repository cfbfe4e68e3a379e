import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test, vi } from 'vitest';
import { checkBodyRules } from '../../infra/simulator/body-rules.ts';
import { compactJson } from '../../lib/gateway/index.ts';

/** A piece of JSON as a client may write it, and what has to become of it. */
interface Written {
  readonly source: string;
  readonly compact: string;
}

const same = (text: string): Written => ({ source: text, compact: text });

const stringPiece: fc.Arbitrary<Written> = fc.oneof(
  fc.constantFrom<Written>(
    { source: '\\u003c', compact: '<' },
    { source: '\\u003e', compact: '>' },
    { source: '\\u0026', compact: '&' },
    // An escaped backslash before the same letters, and escapes that the interface does not name.
    ...['\\\\u003c', '\\\\\\\\u0026', '\\u003C', '\\u0027', '\\u00e9', '\\u2028', '\\ud800'].map(same),
    ...[
      '\\"',
      '\\\\',
      '\\/',
      '\\n',
      '\\t',
      ' ',
      '  :',
      '{',
      ']',
      ',',
      '\u2028',
      '\u00a0',
      '\ufeff',
      'é',
      '😀',
    ].map(same),
  ),
  fc.string({ maxLength: 4 }).map((text) => same(text.replace(/["\\\p{Cc}]/gu, '.'))),
);

const stringToken = fc.array(stringPiece, { maxLength: 6 }).map(
  (pieces): Written => ({
    source: `"${pieces.map((piece) => piece.source).join('')}"`,
    compact: `"${pieces.map((piece) => piece.compact).join('')}"`,
  }),
);

const otherToken = fc
  .constantFrom(
    '1.10',
    '1e5',
    '1E+2',
    '-0',
    '0.0',
    '12345678901234567890',
    '-1.50e-07',
    'true',
    'false',
    'null',
  )
  .map(same);

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 3 });

/** Joins parts, with white space around each in the source alone. */
const spaced = (parts: readonly Written[], spaces: readonly string[]): Written => ({
  source: parts
    .map(
      ({ source }, at) =>
        `${spaces[(2 * at) % spaces.length]}${source}${spaces[(2 * at + 1) % spaces.length]}`,
    )
    .join(''),
  compact: parts.map(({ compact }) => compact).join(''),
});

const separated = (items: readonly (readonly Written[])[]) =>
  items.flatMap((item, at) => (at === 0 ? item : [same(','), ...item]));

const { document } = fc.letrec<{ document: Written }>((tie) => {
  const spaces = fc.array(space, { minLength: 1, maxLength: 7 });
  const list = fc
    .tuple(fc.array(tie('document'), { maxLength: 4 }), spaces)
    .map(([items, gaps]) => spaced([same('['), ...separated(items.map((item) => [item])), same(']')], gaps));
  const object = fc
    .tuple(fc.array(fc.tuple(stringToken, tie('document')), { maxLength: 4 }), spaces)
    .map(([members, gaps]) => {
      // The number keeps keys apart, however they are written.
      const items = members.map(([{ source, compact }, value], at) => [
        { source: source.replace(/"$/, `#${at}"`), compact: compact.replace(/"$/, `#${at}"`) },
        same(':'),
        value,
      ]);
      return spaced([same('{'), ...separated(items), same('}')], gaps);
    });
  return { document: fc.oneof({ maxDepth: 4 }, stringToken, otherToken, list, object) };
});

describe('the compact form of a body', () => {
  test('is the tokens as written, without white space and the three escapes, whatever the document', () => {
    fc.assert(
      fc.property(document, space, ({ source, compact }, end) => {
        const result = compactJson(source + end);
        assert.ok(result.ok);
        assert.equal(result.text, compact);
        assert.deepEqual(result.value, JSON.parse(source));
        // What it means has not changed, the upstream takes it, and another time changes nothing.
        assert.deepEqual(JSON.parse(result.text), JSON.parse(source));
        assert.equal(checkBodyRules(new TextEncoder().encode(result.text)), undefined);
        const again = compactJson(result.text);
        assert.ok(again.ok && again.text === result.text);
      }),
      { numRuns: 2000 },
    );
  });

  test('is there exactly for what JSON.parse reads', () => {
    const mutated = fc
      .tuple(
        document,
        fc.nat(),
        fc.nat(2),
        fc.constantFrom('"', '\\', '{', ',', ':', 'x', '\u00a0', '\ufeff', '\u0001'),
      )
      .map(([{ source }, position, drop, put]) => {
        const at = position % (source.length + 1);
        return source.slice(0, at) + put + source.slice(at + drop);
      });
    fc.assert(
      fc.property(mutated, (source) => {
        const result = compactJson(source);
        if (!result.ok && /occurs twice/.test(result.detail)) return;
        let valid = true;
        try {
          JSON.parse(source);
        } catch {
          valid = false;
        }
        assert.equal(result.ok, valid);
      }),
      { numRuns: 2000 },
    );
  });

  test('keeps a name that objects treat specially', () => {
    const text = '{"__proto__":{"a":1}}';
    assert.deepEqual(compactJson(text), { ok: true, text, value: JSON.parse(text) });
  });
});

describe('a key that stands twice in an object', () => {
  const escaped = (text: string) =>
    `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

  test('is refused however it is written and wherever the object is', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 5 }),
        fc.boolean(),
        fc.array(fc.constantFrom('list', 'object'), { maxLength: 4 }),
        document,
        (key, inEscapes, around, value) => {
          const second = inEscapes ? escaped(key) : JSON.stringify(key);
          const inner = `{${JSON.stringify(key)}:${value.source},"another":[{}],${second} :0}`;
          const source = around.reduce(
            (text, kind) => (kind === 'list' ? `[0,${text}]` : `{"k":${text}}`),
            inner,
          );
          if (key === 'another') return;
          const result = compactJson(source);
          assert.ok(!result.ok);
          assert.equal(result.detail, `The key ${JSON.stringify(key)} occurs twice.`);
        },
      ),
    );
  });
});

describe('a body with more in it than any good one has', () => {
  const listOf = (count: number, item: string) => Array.from({ length: count }, () => item).join();
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2 - 1)}[{}]${'}]'.repeat(levels / 2 - 1)}`;
  const tooDeep = 'The body has more than 32 levels.';
  const tooMany = 'The body has more than 8192 values and names.';

  for (const [name, body, detail] of [
    ['opening brackets', '['.repeat(131_072), tooDeep],
    ['open objects', '{"":'.repeat(32_768), tooDeep],
    ['nested lists', '['.repeat(65_536) + ']'.repeat(65_536), tooDeep],
    ['nested lists and objects', nested(34), tooDeep],
    ['lists beside texts with brackets', `["]]","\\"}]",${'['.repeat(32)}${']'.repeat(32)}]`, tooDeep],
    ['numbers', `[${listOf(65_000, '1')}]`, tooMany],
    ['empty objects', `[${listOf(43_000, '{}')}]`, tooMany],
    ['members', `{${Array.from({ length: 10_000 }, (_, at) => `"${at}":0`).join()}}`, tooMany],
    ['small objects', `{"new_orders":[${listOf(14_000, '{"\\n":0}')}]}`, tooMany],
    ['values that are no JSON at the end', `[${listOf(9000, '1')}x`, tooMany],
  ] as const)
    test(`is refused before it is parsed: ${name}`, () => {
      const parse = vi.spyOn(JSON, 'parse');
      try {
        assert.deepEqual(compactJson(body), { ok: false, detail });
        assert.equal(parse.mock.calls.length, 0);
      } finally {
        parse.mockRestore();
      }
    });

  test('is not one at the bound, nor one with as many brackets and commas in its texts', () => {
    const [text, key] = ['[{,:\\"'.repeat(9000), '{[,:]'.repeat(2000)];
    for (const source of [
      nested(32),
      `[${listOf(8192, '1')}]`,
      `{"${key}":"${text}"}`,
      `["${text}","\\\\",[]]`,
    ]) {
      const result = compactJson(source);
      assert.ok(result.ok && result.text === source, source.slice(0, 40));
    }
  });
});

describe('a body of some megabytes', () => {
  // A scanner that backtracks needs hours or all its stack for these.
  for (const [name, text] of [
    ['spaces', ' '.repeat(4_000_000)],
    ['letters', 'x'.repeat(9_500_000)],
    ['escapes', '\\n'.repeat(4_500_000)],
  ] as const) {
    test(`of ${name} is no different`, () => {
      const result = compactJson(`{ "a": "${text}" }`);
      assert.ok(result.ok);
      // Not assert.equal: it would print both.
      assert.ok(result.text === `{"a":"${text}"}`);
    });
  }
});
