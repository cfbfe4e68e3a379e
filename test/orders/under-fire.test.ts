/** Sixty orders, and the same with a rule broken; `npm run study -- orders-over-http` has more of them. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { bundle, load, replaceIn } from '../support/bundle.ts';
import { ordersUnderFire, type Subject } from './under-fire.ts';

test('no order is sent twice, nothing is told wrongly, and each is known in time', async () => {
  const { orders, findings } = await ordersUnderFire(60);
  assert.deepEqual(findings, []);
  // Without orders that are free again, and sent again, it would show little.
  assert.ok(orders.filter(({ sendings }) => sendings.size > 1).length > 5);
});

const broken = [
  {
    rule: 'an absence counts at the first sight, without a proof',
    file: 'evidence',
    find: "if (record.kind !== 'placement' || !isOver(entry, askedAt - firstAfterMs)) return undefined;",
    by: "if (isOver(entry, askedAt)) return { key: entry.key, attempt: entry.attempt, state: 'refused', record: JSON.stringify(withOutcome(record, askedAt, { evidence: 'absence' })) };",
    finding: /^(sent twice|told wrongly)/,
  },
  {
    rule: 'a look-up that finds nothing takes an accepted order out of the counters',
    file: 'release-ended',
    find: "found !== undefined && found !== 'not_found' && isFinal(found.state)",
    by: "found === 'not_found' || (found !== undefined && isFinal(found.state))",
    finding: /^counter/,
  },
  {
    rule: 'one order that cannot be looked up keeps the others of its account unknown',
    file: 'settle',
    find: 'shown[(first + index) % shown.length]!',
    by: 'shown[0]',
    finding: /^unknown/,
  },
] as const;

for (const { rule, file, find, by, finding } of broken)
  test(`caught: ${rule}`, async () => {
    const rooms = ['gateway', 'orders', 'trade-events'].map(
      (room) => `export * from './lib/${room}/index.ts'`,
    );
    const plugins = [replaceIn(`lib/orders/${file}.ts`, find, by)];
    const { text } = await bundle(rooms.join(';'), { plugins });
    const { findings } = await ordersUnderFire(60, (await load(text)) as Subject);
    const first = findings.find((one) => finding.test(one));
    console.log(`| ${rule} | ${first ?? 'survives'} |`);
    assert.ok(first, findings.join());
  });
