/**
 * Would these tests notice a broken journal? Each mutant breaks one rule in the real source, and the small model, the random
 * histories or the scenes that pass for the code as it is must fail for it.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { root } from '../../support/bundle.ts';
import { type Edit, inFile, type Mutant, mutantTests, subjectWith } from '../../support/mutants.ts';
import { brokenBefore } from '../broken-before.ts';
import { explore } from '../model/explore.ts';
import type { Subject } from '../model/history.ts';
import { liveHistories } from '../model/random-histories.ts';
import { scenarioOf, smallScenarios } from '../model/scenarios.ts';

const answers = inFile('orders/answers');
const asked = inFile('orders/asked-orders');
const begin = inFile('orders/checked-begin');
const evidence = inFile('orders/evidence');
const handOver = inFile('orders/hand-over');
const memory = inFile('orders/memory-journal');
const parts = inFile('orders/parts');
const released = inFile('orders/release-ended');
const settle = inFile('orders/settle');
const turns = inFile('orders/turns');

const oneSight = evidence(
  'nothing found once is absent',
  'const { absent: first } = record;',
  'const first = { at: new Date(0).toISOString(), proof };',
);
const releasesUnseen = released(
  'what was accepted and is not found has ended',
  "found !== undefined && found !== 'not_found' && isFinal(found.state)",
  "found === 'not_found' || (found !== undefined && isFinal(found.state))",
);
const releasesAny = memory(
  'a release means any attempt',
  'entry?.attempt !== attempt || entry.exposure !== before || entry.state !== (state ?? entry.state)',
  'entry?.exposure !== before',
);
const readsAny = released(
  'a release reads whichever attempt there is',
  'const isSame = entry?.attempt === attempt && (!isRefused || entry.state === state);',
  'const isSame = entry !== undefined;',
);
const oneList = memory(
  'all kinds of entries are in one list',
  'listOf(entry) === list',
  "listOf(entry) === list || (list !== 'unseen' && isOpen(entry) && entry.listedAs !== undefined)",
);
const noTurns = turns(
  'each run begins at the first key',
  'const [first, second] = [Math.floor(place / characters.length), place % characters.length];',
  'const [first, second] = [0, 0];',
);
const anyTerms = evidence(
  'an order of any terms is the one that was asked for',
  'if (hasOtherTerms(record, found))',
  'if (false)',
);
/** So that a page is shorter than the lists of these worlds. */
const shortPage = settle('a page is short', 'const maxEntries = 1000;', 'const maxEntries = 3;');

/** Earlier rules: an answer spoke for any order, and the settlement did not look for orders that counted as not placed. */
const anyAnswer = answers(
  'an answer speaks for any order',
  'if (!namesAsked(change, answer))',
  'if (false as boolean)',
);
const onlyEvents = settle(
  'only an event finds what counted as not placed',
  "await this.#watch(run, await journal.unsettled('unseen', from, maxEntries), startedAt);",
  '',
);
const earlierRules: readonly Mutant[] = [onlyEvents, anyAnswer];

const mutants: readonly Mutant[] = [
  ...earlierRules,
  memory('an entry is written over another one', 'if (taken.length > 0) return taken;', ''),
  memory('a pending entry is free', "stored.state === 'refused' ||", "stored.state !== 'accepted' ||"),
  memory(
    'an unknown entry is free',
    "stored.state === 'refused' ||",
    "stored.state === 'refused' || stored.state === 'unknown' ||",
  ),
  memory(
    'another attempt finishes an entry',
    'if (stored?.attempt !== attempt) return false;',
    'if (!stored) return false;',
  ),
  memory(
    'a refusal replaces an acceptance',
    'states.includes(stored.state) ||',
    "stored.state === 'accepted' || states.includes(stored.state) ||",
  ),
  handOver(
    'sent before its entry is written',
    'const begun = await this.#begin(open);',
    'const early = await this.#send(open); void early; const begun = await this.#begin(open);',
  ),
  handOver('sent without the journal', 'if (this.#isOptional) return', 'if (true) return'),
  handOver(
    'an ambiguous begin counts as begun',
    "return { kind: 'away' };\n    }",
    "return { kind: 'begun' };\n    }",
  ),
  handOver('the hash is not compared', 'part.hash !== entry.hash', 'false'),
  handOver('an entry that was taken over is still the same request', 'entry.hash !== first.hash', 'false'),
  handOver(
    'what is seen counts although its entry was taken over',
    "if (!isWritten) return 'not_written';",
    '',
  ),
  answers(
    'an unknown outcome is written as refused',
    "code === 'outcome_unknown' ? 'unknown' : 'refused'",
    "'refused'",
  ),
  answers(
    'an unknown outcome counts as accepted',
    "code === 'outcome_unknown' ? 'unknown' : 'refused'",
    "code === 'outcome_unknown' ? 'accepted' : 'refused'",
  ),
  answers(
    'a part of a batch without an answer is accepted',
    "return { part, state: 'unknown' };",
    "return { part, state: 'accepted', answer: '{}' };",
  ),
  answers('a used id of a batch is a refusal', "'TRADE_PLACE_ORDER_REPEAT'", "'NOT_THIS_CODE'"),
  evidence('absence counts at once', 'isOver(entry, askedAt - firstAfterMs)', 'true'),
  evidence(
    'absence counts after the last moment of sending',
    'isOver(entry, askedAt - firstAfterMs)',
    'isOver(entry, askedAt)',
  ),
  evidence(
    'another order with the id is accepted',
    'if (isOtherOrder(record, found.payload)) return other;',
    '',
  ),
  evidence(
    'a part of a combination is any order of its id',
    "(asksFor === 'NORMAL') !== (has === 'NORMAL')",
    'false',
  ),
  handOver(
    'a refusal is told of a batch of which a part is placed',
    'before.size > 0 ? this.#unknown(partlyPlaced) : refusal',
    'refusal',
  ),
  handOver(
    'an order of the batch that another app has used refuses all',
    'answers.size === 0 ? usedByOther',
    'true ? usedByOther',
  ),
  handOver(
    'an entry whose outcome is lost says nothing of it',
    'const isWritten = await this.#finish(outcomeBy(entry, settled, this.#parts.clock()), 1);',
    'const isWritten = true;',
  ),
];

/** Rules of what was broken before: the scenes find each. */
const mutantsOfScenes: readonly Mutant[] = [
  oneSight,
  evidence(
    'a look-up that came before the order is one of two',
    'isOver(entry, askedAt - firstAfterMs)',
    'isOver(entry, askedAt)',
  ),
  settle(
    'absence needs no proof that look-ups work',
    'const proof = await this.#proofOf(run, account);',
    "const proof = 'other_order' as const;",
  ),
  settle(
    'that a list shows another order proves that look-ups work',
    "return found === 'not_found' ? undefined : 'other_order';",
    "return 'other_order';",
  ),
  evidence(
    'an account without another order is as another one',
    'no_other_order: dayMs',
    'no_other_order: 5 * 60_000',
  ),
  releasesUnseen,
  releasesAny,
  released(
    'what shows after all is not counted again',
    'if (!isFinal(state) || isBracketEntry(entry)) await recountKept(entry, parts);',
    '',
  ),
  released(
    'a release of what was refused means what is accepted, too',
    "const isRefused = state === 'refused' && { state };",
    'const isRefused = false as const;',
  ),
  evidence(
    'a failure of an earlier order with the id is this one’s',
    "state.status === 'FAILED' && placedAt < entry.at",
    'placedAt !== placedAt',
  ),
  settle(
    'a failure of an earlier order proves that look-ups show this one',
    "if (found !== 'not_found' && !isEarlierFailure(open.entry, found)) {",
    "if (found !== 'not_found') run.proofs.set(account, 'other_order'); if (found !== 'not_found' && !isEarlierFailure(open.entry, found)) {",
  ),
  settle(
    'a list that shows an earlier failure shows the order',
    ' && !isEarlierFailure(open.entry, one)',
    '',
  ),
  released(
    'a failure of an earlier order with the id is the end of one that was accepted',
    ' && !isFailureBefore(entry, found)',
    '',
  ),
  begin(
    'a blocked retry takes the place of what seemed to be absent',
    'open.filter(({ key }) => !isAbsent(known.get(key)))',
    'open',
  ),
  settle(
    'a sight between two absences leaves the first',
    'if (state === undefined && open.record.absent)',
    'if (false as boolean)',
  ),
  settle(
    'lists have all the time that look-ups need',
    'if (this.#clock() >= until && lookedUp > 0) break;',
    'if (this.#clock() >= until) break;',
  ),
  oneList,
  noTurns,
  anyTerms,
  evidence(
    'it does not matter how long ago an order of other terms was placed',
    'placedAt !== undefined && placedAt < entry.at - clockSkewMs;',
    '(false as boolean);',
  ),
  evidence(
    'an order of other terms is replaced, whenever it was placed',
    'if (placedAt === undefined || placedAt < entry.at) return undefined;',
    '',
  ),
  evidence(
    'an order of other terms is never a replaced one',
    'if (placedAt === undefined || placedAt < entry.at) return undefined;',
    'return undefined;',
  ),
  evidence(
    'an order of other terms is another one where the upstream called the id used, whenever it was placed',
    'if (isEarlier) return other;',
    'if (isUsedUp(record) || isEarlier) return other;',
  ),
  handOver(
    'an order was placed before its entry when it was placed before a look-up',
    '{ ...this.#entries.begun(part), record }',
    '{ ...this.#entries.begin(part), record }',
  ),
  answers('a part of a batch with an id of the upstream is refused', 'if (orderId || stem', 'if (stem'),
  ...earlierRules,
  asked(
    'a replacement takes an order that shows after all for another program’s',
    'stored && seen ? await shownAfterAll(parts, stored, seen) : stored',
    'stored && seen ? undefined : stored',
  ),
  answers('a part of a batch is placed where its entry has no error', ' || (!code && !orderId)', ''),
  answers(
    'the last entry of a batch that names an order speaks for it',
    'own.length === 1 ? own[0] : undefined',
    'own.at(-1)',
  ),
  answers(
    'an answer about another order is one about this one',
    'if (id && !orders.some((order) => idOf(order) === id)) return false;',
    '',
  ),
  answers(
    'any combination is the one that was asked for',
    'if (comboId && askedComboId && comboId !== askedComboId) return false;',
    '',
  ),
  evidence(
    'an order that is good till cancelled is looked for as long as one of the day',
    '? 8 : 366',
    '? 8 : 8',
  ),
  settle(
    'lists are read as often after a day as before',
    "isYoung ? 'young' : 'old'",
    "isYoung ? 'young' : 'young'",
  ),
  asked(
    'an entry that was refused is written over by another program’s',
    'if (!found || entry || isFinal(found.state))',
    'if (!found || isFinal(found.state))',
  ),
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
      parts(
        'an app key has its own orders',
        'key: await orderKey(names, { account, clientOrderId }),',
        "key: await names.nameOf('entry', 'order', change.credential, account, clientOrderId),",
      ),
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

const source = `export { createHandOver } from './lib/orders/hand-over.ts';
  export { createMemoryOrderJournal, createSettlement } from './lib/orders/index.ts'`;
const subjectOf = (...edits: readonly Edit[]) => subjectWith<Subject>(source, ...edits);

/** That the source as it is passes all worlds is shown by model.test.ts, to their last states, and by random-histories.test.ts. */
test('the code as it is passes, and with pages shorter than its lists', async () => {
  const asItIs = await subjectOf();
  assert.equal(await caughtByScene(asItIs), undefined);
  assert.equal(await caughtByWorlds(asItIs, 1), undefined);
  assert.equal(await caughtByWorlds(await subjectOf(shortPage)), undefined);
});

describe('by the worlds', () => mutantTests(source, mutants, caughtByWorlds));
describe('by a scene', () => mutantTests(source, mutantsOfScenes, caughtByScene));
describe('by the worlds alone', () => mutantTests(source, oldRules, caughtByWorlds));

test('docs/orders-model.md names rules that are broken here', () => {
  const page = readFileSync(join(root, 'docs/orders-model.md'), 'utf8');
  const [, list = ''] = /## What this rests on\n([\s\S]*?)\n## /.exec(page) ?? [];
  const names = [...list.matchAll(/`([a-z][^`/.]* [^`/.]*)`/g)].map(([, name]) => name);
  const known = new Set([...mutants, ...mutantsOfScenes, ...oldRules].map(({ rule }) => rule));
  assert.ok(names.length > 10);
  assert.deepEqual(
    names.filter((name) => !known.has(name!)),
    [],
  );
});

test('a rule whose text is gone from the source is noticed', async () => {
  const gone = { file: 'orders/journal', find: 'no such text', by: '' };
  await assert.rejects(subjectOf(gone), /0 times/);
});

test('a scenario that is cut short says so', async () => {
  const { isComplete } = await explore(scenarioOf('an order', {}), await subjectOf(), { maxStates: 10 });
  assert.equal(isComplete, false);
});
