/** The JSON of tokens, as one reader alone can read it. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { strictObject } from '../../lib/access/token-form.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const objects = fc
  .object({ withNullPrototype: false })
  .map((value) => JSON.parse(JSON.stringify(value)) as object);
/** Names and texts full of what a careless count would take for structure. */
const tricky = fc.dictionary(
  fc.string({ unit: fc.constantFrom('"', ':', '{', '}', '[', ']', '\\', ',', 'a') }),
  fc.json(),
);

test('reads every object, with any names and texts in it', () => {
  fc.assert(
    fc.property(fc.oneof(objects, tricky), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      assert.equal(JSON.stringify(strictObject(bytesOf(text))), JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('refuses every object that has a name twice, however it is written', () => {
  const escaped = (name: string) =>
    `"${[...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
  fc.assert(
    fc.property(tricky, fc.nat(), fc.boolean(), (value, index, isEscaped) => {
      const names = Object.keys(value);
      fc.pre(names.length > 0);
      const name = names[index % names.length] ?? '';
      const again = isEscaped ? escaped(name) : JSON.stringify(name);
      const text = `${JSON.stringify(value).slice(0, -1)},${again}:null}`;
      assert.equal(typeof JSON.parse(text), 'object');
      assert.equal(strictObject(bytesOf(text)), undefined, text);
    }),
  );
});

test('finds no member that the object does not have', () => {
  const read = strictObject(bytesOf('{"a":1}'));
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    assert.equal(read?.[name], undefined);
});
