import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'vitest';
import { sha256Hex } from '../lib/kernel/key-text.ts';

test('64 lower-case digits, of the text in UTF-8', async () => {
  for (const text of ['', 'abc', 'ü€😀'])
    assert.equal(await sha256Hex(text), createHash('sha256').update(text, 'utf8').digest('hex'));
});
