/** A minute of an upgrade: `hour.test.ts` has more of it, and shows what it finds. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { withoutHistory } from '../support/earlier.ts';
import { orTell } from '../support/missing.ts';
import { sideBySide } from './hour.ts';
import { earlierVersion, versionOfToday } from './versions.ts';

test(
  'functions of both versions, side by side, place each order once and tell it rightly',
  orTell(withoutHistory()),
  async () => {
    const versions = { earlier: await earlierVersion(), today: await versionOfToday() };
    const { findings, requests } = await sideBySide(versions, 1);
    assert.deepEqual(findings, []);
    assert.ok(requests.earlier > 50 && requests.today > 50, JSON.stringify(requests));
  },
);
