/**
 * Some minutes of an upgrade and back, and the same with a version of today that keeps something in another way than before;
 * `npm run study -- side-by-side` has the whole hour.
 */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { withoutHistory } from '../support/earlier.ts';
import { orTell } from '../support/missing.ts';
import { sideBySide } from './hour.ts';
import { type Defect, earlierVersion, type Version, versionOfToday } from './versions.ts';

/** Three minutes have a storm. */
const defects: readonly (Defect & { readonly finding: RegExp; readonly minutes?: number })[] = [
  {
    defect: 'the entry of an order has another key',
    file: 'lib/orders/parts.ts',
    find: "names.nameOf('entry', 'order', order.account",
    by: "names.nameOf('entry', 'orders', order.account",
    finding: /^told wrongly/,
  },
  {
    defect: 'an attribute of an entry has another name',
    file: 'functions/aws/dynamo-order-entries.ts',
    find: "['send_by', numberOf]",
    by: "['sent_by', numberOf]",
    finding: /^(failed|told wrongly)/,
  },
  {
    defect: 'the limiter counts under another key',
    file: 'lib/limiter/limiter.ts',
    find: 'await limiterKey(bucket, appKey)',
    by: 'await limiterKey(bucket, appKey + bucket)',
    finding: /^limit/,
    minutes: 3,
  },
  {
    defect: 'counters of checks have another key',
    file: 'lib/guard-rails/guard.ts',
    find: 'string => `counter $',
    by: 'string => `counters $',
    finding: /^counter/,
  },
  {
    defect: 'users have other names',
    file: 'lib/access/identity.ts',
    find: "names.nameOf('user', principal.kind",
    by: "names.nameOf('users', principal.kind",
    finding: /^failed/,
  },
];

describe('side by side', orTell(withoutHistory()), () => {
  let earlier: Version;
  beforeAll(async () => {
    earlier = await earlierVersion();
  });

  test('no request fails, no limit is exceeded, and no order is told wrongly', async () => {
    const today = await versionOfToday();
    const { findings, requests, refused, crossed, settled } = await sideBySide({ earlier, today }, 10);
    assert.deepEqual(findings, []);
    // Without a storm, and orders that are asked for at both, it would show little.
    assert.ok(requests.earlier > 500 && requests.today > 500, JSON.stringify(requests));
    assert.ok(refused > 100 && crossed > 5 && settled > 2, `${refused} ${crossed} ${settled}`);
  });

  for (const { finding, minutes = 2, ...defect } of defects)
    test(`caught: ${defect.defect}`, async () => {
      const today = await versionOfToday(defect);
      const { findings } = await sideBySide({ earlier, today }, minutes, finding);
      const first = findings.find((one) => finding.test(one));
      console.log(`| ${defect.defect} | ${first ?? 'survives'} |`);
      assert.ok(first, findings.join());
    });
});
