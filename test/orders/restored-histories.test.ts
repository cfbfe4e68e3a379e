/**
 * Random histories in which the journal is restored to an earlier time at any moment: nothing is doubled or told wrongly,
 * and no counter is below the truth while orders are open. With a rule left out, one of these is found. That the audit is read
 * on is no such rule: without it orders stay closed for longer.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { bundle, load, replaceIn } from '../support/bundle.ts';
import type { Subject } from './model/history.ts';
import { liveHistories } from './model/random-histories.ts';
import type { RestoreSubject } from './model/tables.ts';

const count = Number(process.env.HISTORIES ?? 60);

interface LeftOut {
  readonly rule: string;
  /** In `lib`. */
  readonly file: string;
  readonly find: string;
  readonly by: string;
}

const reconcile = 'orders/reconcile';
const checkpoints = 'guard-rails/checkpoints';

const leftOut: readonly LeftOut[] = [
  {
    rule: 'a restored table is noticed',
    file: checkpoints,
    find: 'return named !== undefined && (named !== names[table] || stored.get(table) !== newest?.text);',
    by: 'return false;',
  },
  {
    rule: 'also one that has its old name',
    file: checkpoints,
    find: '(named !== names[table] || stored.get(table) !== newest?.text)',
    by: 'named !== names[table]',
  },
  {
    rule: 'the settlement writes no checkpoint into a restored table',
    file: checkpoints,
    find: 'restoredTables(names, stored).filter((table) => !taken.includes(table));',
    by: '[] as CheckpointTable[];',
  },
  {
    rule: 'counters are raised',
    file: reconcile,
    find: 'isWhole && (await this.#raise())',
    by: 'isWhole',
  },
  {
    rule: 'the upstream is looked at',
    file: reconcile,
    find: 'mayLook && (await this.#look(noticedAt))',
    by: 'mayLook',
  },
  {
    rule: 'what was under way has time to show',
    file: reconcile,
    find: 'isClear && lookedAt !== undefined && now >= lookedAt + betweenLooksMs',
    by: 'isRaised',
  },
  {
    rule: 'an id that the upstream shows is taken',
    file: reconcile,
    find: 'await this.#write(seen, entry);',
    by: '',
  },
  {
    rule: 'an order that nothing attributes keeps orders closed',
    file: reconcile,
    find: 'return isWhole && this.#uncounted === 0;',
    by: 'return isWhole;',
  },
  {
    rule: 'what one attempt has come to stays',
    file: reconcile,
    find: 'return rank[stored.state] < rank[line.state];',
    by: 'return stored.state !== line.state;',
  },
  {
    rule: 'while closed nothing is written of an order',
    file: 'orders/checked-begin',
    find: "if (verdict?.kind === 'closed') return { kind: 'refused', refusal: ordersClosed };",
    by: "if (verdict?.kind === 'closed') return refuse(parts, request, undefined);",
  },
];

async function subjectOf(...edits: readonly LeftOut[]): Promise<Subject & RestoreSubject> {
  const { text } = await bundle(
    `export { createHandOver } from './lib/orders/hand-over.ts';
    export { createMemoryOrderJournal, createSettlement } from './lib/orders/index.ts';
    export { reconcile } from './lib/orders/reconcile.ts';
    export { nextCheckpoint, restoredTables } from './lib/guard-rails/checkpoints.ts';`,
    { plugins: edits.map(({ file, find, by }) => replaceIn(`lib/${file}.ts`, find, by)) },
  );
  return (await load(text)) as Subject & RestoreSubject;
}

test(`${count} histories: doubled, lost, misreported, miscounted 0`, async () => {
  const subject = await subjectOf();
  const { findings, figures } = await liveHistories(count, subject, { restores: subject });
  assert.deepEqual(findings, []);
  console.log(JSON.stringify(figures));
  assert.ok(figures.restores > count && figures.placements > count, JSON.stringify(figures));
});

describe('left out, it is found', () => {
  test.each(leftOut)('$rule', async (one) => {
    const subject = await subjectOf(one);
    const { findings, figures } = await liveHistories(3 * count, subject, { restores: subject, most: 1 });
    const [found] = findings;
    console.log(`| ${one.rule} | ${found ? `history ${figures.histories}: ${found.kind}` : 'survives'} |`);
    assert.ok(found, 'survives');
  });
});
