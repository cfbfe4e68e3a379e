/**
 * Random histories in which the journal is restored to an earlier time at any moment: nothing is doubled or told wrongly,
 * and no counter is below the truth while orders are open. With a rule left out, one of these is found. That the audit is read
 * on is no such rule: without it orders stay closed for longer.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { inFile, type Mutant, mutantTests, subjectWith } from '../../support/mutants.ts';
import type { Subject } from '../model/history.ts';
import { liveHistories } from '../model/random-histories.ts';
import type { RestoreSubject } from '../model/tables.ts';

const count = Number(process.env.HISTORIES ?? 60);

const reconcile = inFile('orders/reconcile');
const checkpoints = inFile('guard-rails/checkpoints');
const begin = inFile('orders/checked-begin');

const leftOut: readonly Mutant[] = [
  checkpoints(
    'a restored table is noticed',
    'return named !== undefined && (named !== names[table] || stored.get(table) !== newest?.text);',
    'return false;',
  ),
  checkpoints(
    'also one that has its old name',
    '(named !== names[table] || stored.get(table) !== newest?.text)',
    'named !== names[table]',
  ),
  checkpoints(
    'the settlement writes no checkpoint into a restored table',
    'restoredTables(names, stored).filter((table) => !taken.includes(table));',
    '[] as CheckpointTable[];',
  ),
  reconcile('counters are raised', 'isWhole && (await this.#raise())', 'isWhole'),
  reconcile('the upstream is looked at', 'mayLook && (await this.#look(noticedAt))', 'mayLook'),
  reconcile(
    'what was under way has time to show',
    'isClear && lookedAt !== undefined && now >= lookedAt + betweenLooksMs',
    'isRaised',
  ),
  reconcile('an id that the upstream shows is taken', 'await this.#write(seen, entry);', ''),
  reconcile(
    'an order that nothing attributes keeps orders closed',
    'return isWhole && this.#uncounted === 0;',
    'return isWhole;',
  ),
  reconcile(
    'what one attempt has come to stays',
    'return rank[stored.state] < rank[line.state];',
    'return stored.state !== line.state;',
  ),
  begin(
    'while closed nothing is written of an order',
    "if (verdict?.kind === 'closed') return { kind: 'refused', refusal: ordersClosed };",
    "if (verdict?.kind === 'closed') return refuse(parts, request, undefined);",
  ),
];

const source = `export { createHandOver } from './lib/orders/hand-over.ts';
  export { createMemoryOrderJournal, createSettlement } from './lib/orders/index.ts';
  export { reconcile } from './lib/orders/reconcile.ts';
  export { nextCheckpoint, restoredTables } from './lib/guard-rails/checkpoints.ts';`;

test(`${count} histories: doubled, lost, misreported, miscounted 0`, async () => {
  const subject = await subjectWith<Subject & RestoreSubject>(source);
  const { findings, figures } = await liveHistories(count, subject, { restores: subject });
  assert.deepEqual(findings, []);
  console.log(JSON.stringify(figures));
  assert.ok(figures.restores > count && figures.placements > count, JSON.stringify(figures));
});

mutantTests<Subject & RestoreSubject>(source, leftOut, async (subject) => {
  const { findings, figures } = await liveHistories(3 * count, subject, { restores: subject, most: 1 });
  return findings[0] && `history ${figures.histories}: ${findings[0].kind}`;
});
