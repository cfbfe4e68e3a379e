/** The scan of an answer gives the verdict of the runtime's own parser over its own strict decoder. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { elementsOf, isJson, membersOf } from '../../lib/kernel/json-scan.ts';

function isParsed(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text);

function assertSame(bytes: Uint8Array): void {
  assert.equal(isJson(bytes), isParsed(bytes), JSON.stringify(Buffer.from(bytes).toString('latin1')));
}

/** JSON with white space between its tokens. */
const spacedJson = fc
  .tuple(fc.json({ stringUnit: 'binary', maxDepth: 4 }), fc.constantFrom('', ' ', '\n\t', '\r  '))
  .map(([text, space]) => JSON.stringify(JSON.parse(text), null, space));

/** What tears at the seams: tokens, parts of tokens, and what is none. */
const token = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"', '""', '"a"', '0', '-', '1.', '.5', '1e', 'e+1', '-0', '00', '1E-2'],
  ...[
    'true',
    'tru',
    'false',
    'null',
    'nul',
    'NaN',
    ' ',
    '\n',
    '\v',
    '\u00a0',
    '\ufeff',
    '\\',
    '"\\u12',
    '\\u00zz',
  ],
  ...['"\\b\\/\\u00Ff"', '"\\x"', '"\t"', '"\u007f"', '"ä😀"', "'a'", '/**/', '\u0000'],
);

describe('the same verdict', () => {
  test('of JSON', () => {
    fc.assert(
      fc.property(spacedJson, (text) => {
        assert.equal(isJson(utf8(text)), true, text);
      }),
      { numRuns: 1000 },
    );
  });

  test('of JSON in which one byte is another one, is missing, or comes twice', () => {
    fc.assert(
      fc.property(spacedJson, fc.nat(), fc.nat(255), fc.nat(2), (text, place, byte, kind) => {
        const bytes = [...utf8(text)];
        const at = place % bytes.length;
        const changed = [[byte], [], [bytes[at]!, bytes[at]!]][kind]!;
        assertSame(Uint8Array.from([...bytes.slice(0, at), ...changed, ...bytes.slice(at + 1)]));
      }),
      { numRuns: 5000 },
    );
  });

  test('of any tokens in any order', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => assertSame(utf8(tokens.join('')))),
      { numRuns: 5000 },
    );
  });

  test('of any bytes within a text', () => {
    const inText = (bytes: readonly number[]) => Uint8Array.from([0x22, ...bytes, 0x22]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0x7f, max: 0xff }), { maxLength: 5 }), (bytes) =>
        assertSame(inText(bytes)),
      ),
      { numRuns: 5000 },
    );
    // Each first byte with each second one, and what may follow.
    for (let first = 0xc0; first <= 0xff; first++)
      for (let second = 0x7f; second <= 0xc0; second++)
        for (const rest of [[], [0x80], [0x80, 0xbf], [0x80, 0xbf, 0x80]])
          assertSame(inText([first, second, ...rest]));
  });

  test('of nothing, of marks of byte order, and of what ends too early', () => {
    for (const text of [
      '',
      ' ',
      '\ufeff',
      '\ufeff[]',
      '\ufeff\ufeff[]',
      ' \ufeff[]',
      '[]\ufeff',
      '[] []',
      '1 2',
    ])
      assertSame(utf8(text));
    const whole = '{"a":[1.5e+3,-0,"\\u00e4\\n ä😀",true,false,null,{}],"b":{"c":[[]]}}';
    for (let end = 0; end <= utf8(whole).length; end++) assertSame(utf8(whole).subarray(0, end));
  });

  test('at any depth, objects and arrays mixed', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300 }), fc.nat(), (isObject, place) => {
        const text = `${isObject.map((one) => (one ? '{"a":' : '[')).join('')}1${[...isObject]
          .reverse()
          .map((one) => (one ? '}' : ']'))
          .join('')}`;
        assert.equal(isJson(utf8(text)), true);
        const closing = utf8(text);
        if (isObject.length === 0) return;
        const at = closing.length - 1 - (place % isObject.length);
        closing[at] = closing[at] === 0x7d ? 0x5d : 0x7d;
        assert.equal(isJson(closing), false);
      }),
    );
  });
});

describe('the parts', () => {
  const value = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as unknown;

  test('of an object are its members, of a list its elements, whatever they are', () => {
    fc.assert(
      fc.property(spacedJson, fc.string({ unit: 'binary-ascii' }), (text, name) => {
        const parsed = JSON.parse(text) as unknown;
        const list = Array.from(elementsOf(utf8(`${text} `)), value);
        assert.deepEqual(list, Array.isArray(parsed) ? parsed : []);
        assert.deepEqual(Array.from(elementsOf(utf8(`[ ${text},${text} , 1]`)), value), [parsed, parsed, 1]);
        const quoted = JSON.stringify(name);
        const members = membersOf(utf8(`\n{"" :0, ${quoted}: ${text} ,"z":[]}`), [name, 'none']);
        assert.deepEqual([...members!.keys()], [name]);
        assert.deepEqual(value(members!.get(name)!), name === 'z' ? [] : parsed);
        const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
        const wanted = Object.entries(isObject ? parsed : { a: 1 }).filter(([key]) =>
          /^[\0-\x7f]*$/.test(key),
        );
        const own = membersOf(
          utf8(text),
          wanted.map(([key]) => key),
        );
        // Integers come first in an object, whatever their order in the text.
        assert.deepEqual(
          own && new Map(Array.from(own, ([key, bytes]) => [key, value(bytes)])),
          isObject ? new Map(wanted) : undefined,
        );
      }),
      { numRuns: 1000 },
    );
  });
});

test('four million brackets are no deeper than two', () => {
  const depth = 2 * 1024 * 1024;
  assert.equal(isJson(utf8('['.repeat(depth) + ']'.repeat(depth))), true);
  assert.equal(isJson(utf8('['.repeat(depth) + ']'.repeat(depth - 1))), false);
  assert.equal(isJson(utf8('['.repeat(2 * depth))), false);
});
