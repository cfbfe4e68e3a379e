/** Where a text stops being JSON: the verdict and the place of the runtime's own parser, without its excerpts. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { jsonFault } from '../lib/kernel/json-fault.ts';

function errorOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The index of the place that a fault names. */
function offsetOf(text: string, fault: string): number | undefined {
  const [, line, column] = /line (\d+), column (\d+)/.exec(fault) ?? [];
  if (line === undefined) return undefined;
  const before = text.split(/(?<=\r\n|\r(?!\n)|\n)/).slice(0, Number(line));
  const last = before.length < Number(line) ? '' : before.pop()!;
  return (
    before.join('').length +
    Array.from(last)
      .slice(0, Number(column) - 1)
      .join('').length
  );
}

/** Tokens, parts of tokens, and what is none. */
const token = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"', '""', '"a"', '0', '-', '1.', '.5', '1e', 'e+1', '-0', '00', '1E-2'],
  ...[
    'true',
    'tru',
    'null',
    'NaN',
    ' ',
    '\n',
    '\r\n',
    '\v',
    '\ufeff',
    '\\',
    '"\\u12',
    '"\\x"',
    '"\t"',
    '"ä😀"',
  ],
);
const tokens = fc.array(token, { maxLength: 12 }).map((all) => all.join(''));

/** JSON of several lines, in which one character is another one, or which ends early. */
const damaged = fc
  .tuple(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom('', '  '),
    fc.nat(),
    fc.constantFrom('', ',', '}', '"', 'x', '\n'),
  )
  .map(([json, space, seed, other]) => {
    const text = JSON.stringify(JSON.parse(json), null, space);
    const at = seed % (text.length + 1);
    return seed % 3 === 0 ? text.slice(0, at) : text.slice(0, at) + other + text.slice(at + 1);
  });

describe('a fault of a JSON text', () => {
  for (const [name, text, fault] of [
    ['nothing', '', 'it is empty'],
    ['white space', ' \n', 'it is empty'],
    ['a byte order mark', '\ufeff{}', 'it begins with a byte order mark'],
    ['single quotes', "{'a':1}", 'at line 1, column 2 a name in double quotes or } is expected'],
    ['a bare name', '{\n  a: 1\n}', 'at line 2, column 3 a name in double quotes or } is expected'],
    [
      'a comma too many',
      '{\n  "a": 1,\n}',
      'at line 3, column 1 a name in double quotes is expected after the comma',
    ],
    ['a comma too many in a list', '[1,]', 'at line 1, column 4 a value is expected'],
    ['no comma', '{"a":1\r\n"b":2}', 'at line 2, column 1 a comma or } is expected'],
    ['no colon', '{"a" 1}', 'at line 1, column 6 a colon is expected'],
    ['an early end', '{"a":[1', 'it ends at line 1, column 8, where a comma or ] is expected'],
    ['an open text', '{"a":"b', 'it ends at line 1, column 8, where a closing double quote is expected'],
    [
      'a line break in a text',
      '["a\nb"]',
      'at line 1, column 4 a text has a raw control character, such as a line break',
    ],
    ['an unknown escape', '["😀\\x"]', 'at line 1, column 4 an escape that JSON knows is expected'],
    ['a word of another language', '{"a":None}', 'at line 1, column 6 a value is expected'],
    ['a leading zero', '[01]', 'at line 1, column 3 a comma or ] is expected'],
    ['two values', '{} {}', 'at line 1, column 4 the end is expected'],
    ['the wrong bracket', '[{"a":1]]', 'at line 1, column 8 a comma or } is expected'],
  ] as const)
    test(`${name}: ${fault}`, () => assert.equal(jsonFault(text), fault));

  test('is found in what the runtime’s parser refuses, at the place that it names, and in nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(tokens, damaged, fc.json()), (text) => {
        const error = errorOf(text);
        const fault = jsonFault(text);
        assert.equal(fault === undefined, error === undefined, `${fault}; ${error}`);
        const position = /at position (\d+)/.exec(error ?? '')?.[1];
        const ours = fault === undefined ? undefined : offsetOf(text, fault);
        if (ours === undefined || position === undefined) return;
        // The parser may name a later character of the token that begins here.
        assert.match(text.slice(ours, Number(position)), /^[\w.+\\-]*$/, `${fault}; ${error}`);
        assert.ok(ours <= Number(position), `${fault}; ${error}`);
      }),
      { numRuns: 5000 },
    );
  });

  test('shows nothing of the text', () => {
    fc.assert(
      fc.property(damaged, (text) => {
        const sentence = (jsonFault(text) ?? '').replace(/\d+/g, '0');
        assert.match(
          sentence,
          /^($|it is empty|(it ends )?at line 0, column 0,?( where)? (an?|the) [a-zJSON}\], -]+$)/,
        );
      }),
    );
  });

  test('is found in a text of a million brackets, too', () => {
    assert.equal(
      jsonFault('['.repeat(1_000_000)),
      'it ends at line 1, column 1000001, where a value or ] is expected',
    );
  });
});
