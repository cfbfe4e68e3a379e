import assert from 'node:assert/strict';
import { test } from 'vitest';
import { toProxyResult } from '../../../functions/events/rest-proxy.ts';
import { maxAccountAnswerBytes, maxAnswerBytes } from '../../../lib/upstream/channel-bound.ts';

/** Lambda's own limit, in bytes of JSON. */
const limit = 6_291_556;

test('Lambda carries the largest answers, however much of them it has to escape', () => {
  const size = Math.max(maxAnswerBytes, maxAccountAnswerBytes);
  for (const text of ['"', '\\', '\n', 'é', 'x']) {
    const body = Buffer.from(text.repeat(size / Buffer.byteLength(text)));
    const result = toProxyResult({
      status: 200,
      headers: { 'x-upstream-request-id': 'x'.repeat(2000) },
      body,
    });
    assert.ok(Buffer.byteLength(JSON.stringify(result)) < limit, JSON.stringify(text));
  }
});
