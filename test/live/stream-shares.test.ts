/** How many streams a caller may have, over the store in memory; `stores-dynamo.test.ts` has it on the engine. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createMemoryStreamStore, createStreamShares } from '../../lib/live/stream-shares.ts';
import { requestOf, streamStoreContract } from './stream-store.contract.ts';

streamStoreContract('in memory', createMemoryStreamStore);

test('a store that fails keeps nobody out', async () => {
  const away = () => Promise.reject(new Error('away'));
  const shares = createStreamShares({ read: away, write: away }, { max: 1, clock: Date.now });
  assert.deepEqual(
    [await shares.take(requestOf('a'), 1), await shares.take(requestOf('b'), 1)],
    [true, true],
  );
  await shares.free(requestOf('a'));
});
