/** Sixty orders, and the same with a rule broken; `npm run study -- orders-over-http` has more of them. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { mutantTests } from '../../support/mutants.ts';
import { ordersUnderFire, type Subject } from '../under-fire.ts';

test('no order is sent twice, nothing is told wrongly, and each is known in time', async () => {
  const { orders, findings } = await ordersUnderFire(60);
  assert.deepEqual(findings, []);
  // Without orders that are free again, and sent again, it would show little.
  assert.ok(orders.filter(({ sendings }) => sendings.size > 1).length > 5);
});

const broken = [
  {
    rule: 'an absence counts at the first sight, without a proof',
    file: 'orders/evidence',
    find: "if (record.kind !== 'placement' || !isOver(entry, askedAt - firstAfterMs)) return undefined;",
    by: "if (isOver(entry, askedAt)) return { key: entry.key, attempt: entry.attempt, state: 'refused', record: JSON.stringify(withOutcome(record, askedAt, { evidence: 'absence' })) };",
    finding: /^(sent twice|told wrongly)/,
  },
  {
    rule: 'a look-up that finds nothing takes an accepted order out of the counters',
    file: 'orders/release-ended',
    find: "found !== undefined && found !== 'not_found' && isFinal(found.state)",
    by: "found === 'not_found' || (found !== undefined && isFinal(found.state))",
    finding: /^counter/,
  },
  {
    rule: 'one order that cannot be looked up keeps the others of its account unknown',
    file: 'orders/settle',
    find: 'shown[(first + index) % shown.length]!',
    by: 'shown[0]',
    finding: /^unknown/,
  },
] as const;

const rooms = ['gateway', 'orders', 'trade-events'].map((room) => `export * from './lib/${room}/index.ts'`);

for (const { finding, ...mutant } of broken)
  mutantTests<Subject>(rooms.join(';'), [mutant], async (subject) => {
    const { findings } = await ordersUnderFire(60, subject);
    return findings.find((one) => finding.test(one));
  });
