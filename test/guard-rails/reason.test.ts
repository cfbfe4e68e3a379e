/** Reasons: what a person writes is taken or refused, and what another system wrote is made one. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { isReason, toReason } from '../../lib/guard-rails/control-changes.ts';

test('a reason of another system keeps its words, without what could end a line or hide in one', () => {
  const other = 'no reason given';
  for (const [text, reason] of [
    ['Threshold Crossed: 1 datapoint [5.0] ≥ 1.0', 'Threshold Crossed: 1 datapoint [5.0] ≥ 1.0'],
    [' a\r\nb\u2028c\u0000\u202ed ', 'a b c d'],
    ['', other],
    [' \n\u200b ', other],
    ['x'.repeat(500), 'x'.repeat(500)],
    ['x'.repeat(501), `${'x'.repeat(499)}…`],
    // The cut goes through the middle of a character.
    [`${'x'.repeat(498)}😀😀`, `${'x'.repeat(498)}…`],
  ] as const) {
    assert.equal(toReason(text, other), reason);
    assert.equal(isReason(reason), true);
  }
});

test('a reason is made of any text, and one that is a reason already stays', () => {
  const any = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 700 }),
    fc.string({ unit: 'grapheme', minLength: 480, maxLength: 520 }),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 600 })
      .map((units) => String.fromCharCode(...units)),
  );
  fc.assert(
    fc.property(any, (text) => {
      const reason = toReason(text, 'none');
      assert.equal(isReason(reason), true, JSON.stringify(text));
      if (isReason(text)) assert.equal(reason, text.trim());
    }),
    { numRuns: 50 },
  );
});
