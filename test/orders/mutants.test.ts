/**
 * Would these tests notice a broken journal? Each mutant breaks one rule in the real source, and the small model, the random
 * histories or the scenes that pass for the code as it is must fail for it.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { bundle, load, replaceIn } from '../support/bundle.ts';
import { brokenBefore } from './broken-before.ts';
import { explore } from './model/explore.ts';
import type { Subject } from './model/history.ts';
import { liveHistories } from './model/random-histories.ts';
import { scenarioOf, smallScenarios } from './model/scenarios.ts';

interface Edit {
  readonly file:
    | 'answers'
    | 'asked-orders'
    | 'checked-begin'
    | 'evidence'
    | 'hand-over'
    | 'journal'
    | 'memory-journal'
    | 'parts'
    | 'release-ended'
    | 'settle'
    | 'turns';
  readonly find: string;
  readonly by: string;
}

interface Mutant extends Edit {
  readonly rule: string;
}

const oneSight: Edit = {
  file: 'evidence',
  find: 'const { absent: first } = record;',
  by: 'const first = { at: new Date(0).toISOString(), proof };',
};
const releasesUnseen: Edit = {
  file: 'release-ended',
  find: "found !== undefined && found !== 'not_found' && isFinal(found.state)",
  by: "found === 'not_found' || (found !== undefined && isFinal(found.state))",
};
const releasesAny: Edit = {
  file: 'memory-journal',
  find: 'entry?.attempt !== attempt || entry.exposure !== before || entry.state !== (state ?? entry.state)',
  by: 'entry?.exposure !== before',
};
const readsAny: Edit = {
  file: 'release-ended',
  find: 'const isSame = entry?.attempt === attempt && (!isRefused || entry.state === state);',
  by: 'const isSame = entry !== undefined;',
};
const oneList: Edit = {
  file: 'memory-journal',
  find: 'listOf(entry) === list',
  by: "listOf(entry) === list || (list !== 'unseen' && isOpen(entry) && entry.listedAs !== undefined)",
};
const noTurns: Edit = {
  file: 'turns',
  find: 'const [first, second] = [Math.floor(place / characters.length), place % characters.length];',
  by: 'const [first, second] = [0, 0];',
};
const anyTerms: Edit = { file: 'evidence', find: 'if (hasOtherTerms(record, found))', by: 'if (false)' };
/** So that a page is shorter than the lists of these worlds. */
const shortPage: Edit = { file: 'settle', find: 'const maxEntries = 1000;', by: 'const maxEntries = 3;' };

/** Earlier rules: an answer spoke for any order, and the settlement did not look for orders that counted as not placed. */
const anyAnswer: Edit = {
  file: 'answers',
  find: 'if (!namesAsked(change, answer))',
  by: 'if (false as boolean)',
};
const onlyEvents: Edit = {
  file: 'settle',
  find: "await this.#watch(run, await journal.unsettled('unseen', from, maxEntries), startedAt);",
  by: '',
};
const seededRows: readonly Mutant[] = [
  { rule: 'only an event finds what counted as not placed', ...onlyEvents },
  { rule: 'an answer speaks for any order', ...anyAnswer },
];

const mutants: readonly Mutant[] = [
  ...seededRows,
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
    find: 'if (stored?.attempt !== attempt) return false;',
    by: 'if (!stored) return false;',
  },
  {
    rule: 'a refusal replaces an acceptance',
    file: 'memory-journal',
    find: 'states.includes(stored.state) ||',
    by: "stored.state === 'accepted' || states.includes(stored.state) ||",
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
    find: 'isOver(entry, askedAt - firstAfterMs)',
    by: 'true',
  },
  {
    rule: 'absence counts after the last moment of sending',
    file: 'evidence',
    find: 'isOver(entry, askedAt - firstAfterMs)',
    by: 'isOver(entry, askedAt)',
  },
  {
    rule: 'another order with the id is accepted',
    file: 'evidence',
    find: 'if (isOtherOrder(record, found.payload)) return other;',
    by: '',
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

/** Rules of what was broken before: the scenes find each. */
const mutantsOfScenes: readonly Mutant[] = [
  { rule: 'nothing found once is absent', ...oneSight },
  {
    rule: 'a look-up that came before the order is one of two',
    file: 'evidence',
    find: 'isOver(entry, askedAt - firstAfterMs)',
    by: 'isOver(entry, askedAt)',
  },
  {
    rule: 'absence needs no proof that look-ups work',
    file: 'settle',
    find: 'const proof = await this.#proofOf(run, account);',
    by: "const proof = 'other_order' as const;",
  },
  {
    rule: 'that a list shows another order proves that look-ups work',
    file: 'settle',
    find: "return found === 'not_found' ? undefined : 'other_order';",
    by: "return 'other_order';",
  },
  {
    rule: 'an account without another order is as another one',
    file: 'evidence',
    find: 'no_other_order: dayMs',
    by: 'no_other_order: 5 * 60_000',
  },
  { rule: 'what was accepted and is not found has ended', ...releasesUnseen },
  { rule: 'a release means any attempt', ...releasesAny },
  {
    rule: 'what shows after all is not counted again',
    file: 'release-ended',
    find: 'if (!isFinal(state) || isBracketEntry(entry)) await recountKept(entry, parts);',
    by: '',
  },
  {
    rule: 'a release of what was refused means what is accepted, too',
    file: 'release-ended',
    find: "const isRefused = state === 'refused' && { state };",
    by: 'const isRefused = false as const;',
  },
  {
    rule: 'a failure of an earlier order with the id is this one’s',
    file: 'evidence',
    find: "state.status === 'FAILED' && placedAt < entry.at",
    by: 'placedAt !== placedAt',
  },
  {
    rule: 'a failure of an earlier order proves that look-ups show this one',
    file: 'settle',
    find: "if (found !== 'not_found' && !isEarlierFailure(open.entry, found)) {",
    by: "if (found !== 'not_found') run.proofs.set(account, 'other_order'); if (found !== 'not_found' && !isEarlierFailure(open.entry, found)) {",
  },
  {
    rule: 'a list that shows an earlier failure shows the order',
    file: 'settle',
    find: ' && !isEarlierFailure(open.entry, one)',
    by: '',
  },
  {
    rule: 'a failure of an earlier order with the id is the end of one that was accepted',
    file: 'release-ended',
    find: ' && !isFailureBefore(entry, found)',
    by: '',
  },
  {
    rule: 'a blocked retry takes the place of what seemed to be absent',
    file: 'checked-begin',
    find: 'open.filter(({ key }) => !isAbsent(known.get(key)))',
    by: 'open',
  },
  {
    rule: 'a sight between two absences leaves the first',
    file: 'settle',
    find: 'if (state === undefined && open.record.absent)',
    by: 'if (false as boolean)',
  },
  {
    rule: 'lists have all the time that look-ups need',
    file: 'settle',
    find: 'if (this.#clock() >= until && lookedUp > 0) break;',
    by: 'if (this.#clock() >= until) break;',
  },
  { rule: 'all kinds of entries are in one list', ...oneList },
  { rule: 'each run begins at the first key', ...noTurns },
  { rule: 'an order of any terms is the one that was asked for', ...anyTerms },
  {
    rule: 'it does not matter how long ago an order of other terms was placed',
    file: 'evidence',
    find: 'placedAt !== undefined && placedAt < entry.at - clockSkewMs;',
    by: '(false as boolean);',
  },
  {
    rule: 'an order of other terms is replaced, whenever it was placed',
    file: 'evidence',
    find: 'if (placedAt === undefined || placedAt < entry.at) return undefined;',
    by: '',
  },
  {
    rule: 'an order of other terms is never a replaced one',
    file: 'evidence',
    find: 'if (placedAt === undefined || placedAt < entry.at) return undefined;',
    by: 'return undefined;',
  },
  {
    rule: 'an order of other terms is another one where the upstream called the id used, whenever it was placed',
    file: 'evidence',
    find: 'if (isEarlier) return other;',
    by: 'if (isUsedUp(record) || isEarlier) return other;',
  },
  {
    rule: 'an order was placed before its entry when it was placed before a look-up',
    file: 'hand-over',
    find: '{ ...this.#entries.begun(part), record }',
    by: '{ ...this.#entries.begin(part), record }',
  },
  {
    rule: 'a part of a batch with an id of the upstream is refused',
    file: 'answers',
    find: 'if (orderId || stem',
    by: 'if (stem',
  },
  ...seededRows,
  {
    rule: 'a replacement takes an order that shows after all for another program’s',
    file: 'asked-orders',
    find: 'stored && seen ? await shownAfterAll(parts, stored, seen) : stored',
    by: 'stored && seen ? undefined : stored',
  },
  {
    rule: 'a part of a batch is placed where its entry has no error',
    file: 'answers',
    find: ' || (!code && !orderId)',
    by: '',
  },
  {
    rule: 'the last entry of a batch that names an order speaks for it',
    file: 'answers',
    find: 'own.length === 1 ? own[0] : undefined',
    by: 'own.at(-1)',
  },
  {
    rule: 'an answer about another order is one about this one',
    file: 'answers',
    find: 'if (id && !orders.some((order) => idOf(order) === id)) return false;',
    by: '',
  },
  {
    rule: 'any combination is the one that was asked for',
    file: 'answers',
    find: 'if (comboId && askedComboId && comboId !== askedComboId) return false;',
    by: '',
  },
  {
    rule: 'an order that is good till cancelled is looked for as long as one of the day',
    file: 'evidence',
    find: '? 8 : 366',
    by: '? 8 : 8',
  },
  {
    rule: 'lists are read as often after a day as before',
    file: 'settle',
    find: "isYoung ? 'young' : 'old'",
    by: "isYoung ? 'young' : 'young'",
  },
  {
    rule: 'an entry that was refused is written over by another program’s',
    file: 'asked-orders',
    find: 'if (!found || entry || isFinal(found.state))',
    by: 'if (!found || isFinal(found.state))',
  },
];

/** Rules that once were the product's, as a whole: the worlds find each by themselves. */
const oldRules: readonly { readonly rule: string; readonly edits: readonly Edit[] }[] = [
  { rule: 'a release means whichever attempt has the exposure', edits: [releasesAny, readsAny] },
  {
    rule: 'the first entries of one list are looked at, again and again',
    edits: [oneList, noTurns, shortPage],
  },
  {
    rule: 'an app key has its own orders',
    edits: [
      {
        file: 'parts',
        find: 'key: await orderKey(names, { account, clientOrderId }),',
        by: "key: await names.nameOf('entry', 'order', change.credential, account, clientOrderId),",
      },
    ],
  },
  { rule: 'one run that is shown nothing refuses what is unknown', edits: [oneSight] },
  { rule: 'one run that is shown nothing releases what was accepted', edits: [releasesUnseen] },
  { rule: 'the order that has the id is the one that was asked for', edits: [anyTerms] },
];

async function caughtByScene(subject: Subject): Promise<string | undefined> {
  for (const scenes of Object.values(brokenBefore))
    for (const [name, scene] of Object.entries(scenes))
      try {
        await scene(subject);
      } catch {
        return `scene: ${name}`;
      }
  return undefined;
}

/** How far the worlds go: a broken rule shows early in one of them, so that each goes a little way before any goes far. */
const rounds = [
  { maxStates: 50, histories: 20 },
  { maxStates: 400, histories: 100 },
  { maxStates: 3000, histories: 500 },
];

/** The first that fails: the model or the histories. */
async function caughtByWorlds(subject: Subject, most = rounds.length): Promise<string | undefined> {
  for (const { maxStates, histories } of rounds.slice(0, most)) {
    for (const scenario of smallScenarios) {
      const { findings, states } = await explore(scenario, subject, { maxStates });
      const [first] = findings;
      if (first) return `model (${scenario.name}, ${states} states): ${first.kind}`;
    }
    const { findings, figures } = await liveHistories(histories, subject, { most: 1 });
    if (findings[0]) return `history ${figures.histories}: ${findings[0].kind}`;
  }
  return undefined;
}

async function subjectOf(...edits: readonly Edit[]): Promise<Subject> {
  const plugins = edits.map(({ file, find, by }) => replaceIn(`lib/orders/${file}.ts`, find, by));
  const { text } = await bundle(
    `export { createHandOver } from './lib/orders/hand-over.ts';
    export { createMemoryOrderJournal, createSettlement } from './lib/orders/index.ts'`,
    { plugins },
  );
  return (await load(text)) as Subject;
}

/** That the source as it is passes all worlds is shown by model.test.ts, to their last states, and by random-histories.test.ts. */
test('the code as it is passes, and with pages shorter than its lists', async () => {
  const asItIs = await subjectOf();
  assert.equal(await caughtByScene(asItIs), undefined);
  assert.equal(await caughtByWorlds(asItIs, 1), undefined);
  assert.equal(await caughtByWorlds(await subjectOf(shortPage)), undefined);
});

const ways = [
  ['by the worlds', mutants.map((one) => ({ rule: one.rule, edits: [one] })), caughtByWorlds],
  ['by a scene', mutantsOfScenes.map((one) => ({ rule: one.rule, edits: [one] })), caughtByScene],
  ['by the worlds alone', oldRules, caughtByWorlds],
] as const;

describe.each(ways)('caught %s', (_, broken, caughtBy) => {
  test.each(broken)('$rule', async ({ rule, edits }) => {
    const by = await caughtBy(await subjectOf(...edits));
    console.log(`| ${rule} | ${by ?? 'survives'} |`);
    assert.ok(by, 'survives');
  });
});

test('a rule whose text is gone from the source is noticed', async () => {
  const gone = { rule: '', file: 'journal', find: 'no such text', by: '' } as const;
  await assert.rejects(subjectOf(gone), /0 times/);
});

test('a scenario that is cut short says so', async () => {
  const { isComplete } = await explore(scenarioOf('an order', {}), await subjectOf(), { maxStates: 10 });
  assert.equal(isComplete, false);
});
