/** Twenty streams over real sockets; `npm run study -- streams-http` has more of them. How fast anything is, is not judged. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { studySockets } from '../sockets-study.ts';

test('streams that end all at once come again, and none ends because others do not read', async () =>
  assert.ok(await studySockets(['20', '4', '0.1', '5'])));
