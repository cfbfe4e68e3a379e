/** What the page holds after seconds; `npm run study -- page-memory` takes ten minutes. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { noChromium } from '../support/chromium.ts';
import { orSkip } from '../support/missing.ts';
import { studyPageMemory } from './memory-study.ts';

test('the page lets go of what it has shown', orSkip(noChromium), async () =>
  assert.ok(await studyPageMemory(['4'])),
);
