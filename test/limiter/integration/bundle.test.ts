/** The limiter is usable alone: what it brings along, and that its documented example works. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { bundle, load } from '../../support/bundle.ts';

type Limiter = typeof import('../../../lib/limiter/index.ts');

test('the limiter brings nothing of the other folders and no package', async () => {
  const { meta } = await bundle("export * from './lib/limiter/index.ts'");
  // The base of the library's errors stands with the signer, which has nothing else to import it from.
  const shared = [
    'lib/kernel/age.ts',
    'lib/kernel/key-text.ts',
    'lib/kernel/pauses.ts',
    'lib/limiter/store-throttled.ts',
    'lib/signer/errors.ts',
    '<stdin>',
  ];
  const foreign = Object.keys(meta.inputs).filter(
    (input) => !input.startsWith('lib/limiter/') && !shared.includes(input),
  );
  assert.deepEqual(foreign, []);
});

test('the limiter’s example grants a permit once', async () => {
  const { text } = await bundle("export * from './lib/limiter/index.ts'");
  const { createLimiter, createMemoryLimiterStore } = (await load(text)) as Limiter;
  const limiter = createLimiter({
    store: createMemoryLimiterStore(),
    bucket: 'production',
    limits: {
      api: { requests: 300, perSeconds: 60 },
      search: { requests: 30, perSeconds: 60, within: 'api' },
    },
  });
  const answer = await limiter.acquire({ appKey: 'my-key', limits: ['api', 'search'], waitMs: 500 });
  assert.ok(answer.ok);
  assert.deepEqual([answer.permit.consume(), answer.permit.consume()], [true, false]);
});
