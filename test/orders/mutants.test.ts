/**
 * Would these tests notice a broken journal? Each mutant breaks one rule in the real source, and the small model or the
 * random histories that pass for the code as it is must fail for it.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { bundle, load, replaceIn } from '../support/bundle.ts';
import { explore } from './model/explore.ts';
import type { Subject } from './model/history.ts';
import { liveHistories } from './model/random-histories.ts';
import { scenarioOf, smallScenarios } from './model/scenarios.ts';

interface Mutant {
  readonly rule: string;
  readonly file: 'hand-over' | 'memory-journal' | 'evidence' | 'answers' | 'journal' | 'parts';
  readonly find: string;
  readonly by: string;
}

const mutants: readonly Mutant[] = [
  {
    rule: 'an entry is written over another one',
    file: 'memory-journal',
    find: 'if (taken.length > 0) return taken;',
    by: '',
  },
  {
    rule: 'a pending entry is free',
    file: 'memory-journal',
    find: "stored.state === 'refused' ||",
    by: "stored.state !== 'accepted' ||",
  },
  {
    rule: 'an unknown entry is free',
    file: 'memory-journal',
    find: "stored.state === 'refused' ||",
    by: "stored.state === 'refused' || stored.state === 'unknown' ||",
  },
  {
    rule: 'another attempt finishes an entry',
    file: 'memory-journal',
    find: 'stored?.attempt === attempt &&',
    by: 'stored !== undefined &&',
  },
  {
    rule: 'a refusal replaces an acceptance',
    file: 'memory-journal',
    find: "stored.state !== 'accepted' &&",
    by: '',
  },
  {
    rule: 'sent before its entry is written',
    file: 'hand-over',
    find: 'const begun = await this.#begin(open);',
    by: 'const early = await this.#send(open); void early; const begun = await this.#begin(open);',
  },
  {
    rule: 'sent without the journal',
    file: 'hand-over',
    find: 'if (this.#isOptional) return',
    by: 'if (true) return',
  },
  {
    rule: 'an ambiguous begin counts as begun',
    file: 'hand-over',
    find: "return { kind: 'away' };\n    }",
    by: "return { kind: 'begun' };\n    }",
  },
  { rule: 'the hash is not compared', file: 'hand-over', find: 'part.hash !== entry.hash', by: 'false' },
  {
    rule: 'an entry that was taken over is still the same request',
    file: 'hand-over',
    find: 'entry.hash !== first.hash',
    by: 'false',
  },
  {
    rule: 'what is seen counts although its entry was taken over',
    file: 'hand-over',
    find: "if (!isWritten) return 'not_written';",
    by: '',
  },
  {
    rule: 'an unknown outcome is written as refused',
    file: 'answers',
    find: "code === 'outcome_unknown' ? 'unknown' : 'refused'",
    by: "'refused'",
  },
  {
    rule: 'an unknown outcome counts as accepted',
    file: 'answers',
    find: "code === 'outcome_unknown' ? 'unknown' : 'refused'",
    by: "code === 'outcome_unknown' ? 'accepted' : 'refused'",
  },
  {
    rule: 'a part of a batch without an answer is accepted',
    file: 'answers',
    find: "return { part, state: 'unknown' };",
    by: "return { part, state: 'accepted', answer: '{}' };",
  },
  {
    rule: 'a used id of a batch is a refusal',
    file: 'answers',
    find: "'TRADE_PLACE_ORDER_REPEAT'",
    by: "'NOT_THIS_CODE'",
  },
  {
    rule: 'absence counts at once',
    file: 'evidence',
    find: 'isOver(entry, askedAt - absenceCountsAfterMs)',
    by: 'true',
  },
  {
    rule: 'absence counts after the last moment of sending',
    file: 'evidence',
    find: 'askedAt - absenceCountsAfterMs',
    by: 'askedAt',
  },
  {
    rule: 'another order with the id is accepted',
    file: 'evidence',
    find: 'return isOtherOrder(record, found.payload)',
    by: 'return false',
  },
  {
    rule: 'a part of a combination is any order of its id',
    file: 'evidence',
    find: "(asksFor === 'NORMAL') !== (has === 'NORMAL')",
    by: 'false',
  },
  {
    rule: 'a refusal is told of a batch of which a part is placed',
    file: 'hand-over',
    find: 'before.size > 0 ? this.#unknown(partlyPlaced) : refusal',
    by: 'refusal',
  },
  {
    rule: 'an order of the batch that another app has used refuses all',
    file: 'hand-over',
    find: 'answers.size === 0 ? usedByOther',
    by: 'true ? usedByOther',
  },
  {
    rule: 'an entry whose outcome is lost says nothing of it',
    file: 'hand-over',
    find: 'const isWritten = await this.#finish(outcomeBy(entry, settled, this.#parts.clock()), 1);',
    by: 'const isWritten = true;',
  },
];

/** The first that fails: the model or the histories. */
async function caughtBy(subject: Subject): Promise<string | undefined> {
  for (const scenario of smallScenarios) {
    const { findings, states } = await explore(scenario, subject, { maxStates: 3000 });
    const [first] = findings;
    if (first) return `model (${scenario.name}, ${states} states): ${first.kind}`;
  }
  const { findings, figures } = await liveHistories(500, subject, { most: 1 });
  return findings[0] && `history ${figures.histories}: ${findings[0].kind}`;
}

async function subjectOf(mutant?: Mutant): Promise<Subject> {
  const plugins = mutant ? [replaceIn(`lib/orders/${mutant.file}.ts`, mutant.find, mutant.by)] : [];
  const { text } = await bundle(
    "export { createHandOver } from './lib/orders/hand-over.ts'; export { createMemoryOrderJournal } from './lib/orders/memory-journal.ts'",
    { plugins },
  );
  return (await load(text)) as Subject;
}

test('the code as it is passes', async () => {
  assert.equal(await caughtBy(await subjectOf()), undefined);
});

for (const mutant of mutants)
  test(`caught: ${mutant.rule}`, async () => {
    const by = await caughtBy(await subjectOf(mutant));
    console.log(`| ${mutant.rule} | ${by ?? 'survives'} |`);
    assert.ok(by, 'survives');
  });

test('a rule whose text is gone from the source is noticed', async () => {
  const gone = { rule: '', file: 'journal', find: 'no such text', by: '' } as const;
  await assert.rejects(subjectOf(gone), /0 times/);
});

test('a scenario that is cut short says so', async () => {
  const { isComplete } = await explore(scenarioOf('an order', {}), await subjectOf(), { maxStates: 10 });
  assert.equal(isComplete, false);
});
