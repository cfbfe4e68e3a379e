import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { checkBodyRules } from '../../infra/simulator/body-rules.ts';

const messageFor = (body: string | Uint8Array) => checkBodyRules(Buffer.from(body))?.message;

test('compact JSON is accepted with any characters in its strings', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => messageFor(JSON.stringify(value)) === undefined));
  assert.equal(messageFor(''), undefined);
  assert.equal(messageFor('{"a b":"<>& \\" , \\n","c":[1,-2.5e3,null]}'), undefined);
});

test('white space between tokens is refused', () => {
  for (const body of ['{"a": 1}', '{"a":1 }', ' {}', '{}\n', '[1,\t2]', '{\r\n"a":1}']) {
    assert.match(messageFor(body) ?? '', /white space/, body);
  }
});

test('escapes of <, > and & are refused, each by name', () => {
  for (const sequence of ['\\u003c', '\\u003e', '\\u0026']) {
    assert.ok(messageFor(`{"a":"x${sequence}y"}`)?.includes(sequence));
    assert.ok(messageFor(`{"${sequence}":1}`)?.includes(sequence));
    assert.ok(messageFor(`["\\\\${sequence}"]`)?.includes(sequence));
  }
});

test('an escaped backslash before u003c is no escape, and other escapes are fine', () => {
  for (const text of ['\\\\u003c', '\\\\\\\\u0026', '\\u003C', '\\u003d', '\\u2028', '\\"\\\\u003e']) {
    assert.equal(messageFor(`{"a":"${text}"}`), undefined, text);
  }
});

test('a body that is not JSON in UTF-8 is refused', () => {
  assert.match(messageFor('a=1') ?? '', /not JSON/);
  assert.match(messageFor('\ufeff{}') ?? '', /not JSON/);
  assert.match(messageFor(Uint8Array.of(0x22, 0xff, 0x22)) ?? '', /not UTF-8/);
});
