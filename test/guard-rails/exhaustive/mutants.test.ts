/**
 * Would these tests notice a broken guard rail? Each mutant breaks one rule in the real source, and the rules or the random
 * histories that pass for the code as it is must fail for it.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { mutantTests, subjectWith } from '../../support/mutants.ts';
import { exposureFault } from '../exposure-histories.ts';
import type { ExposureSubject } from '../exposure-world.ts';
import { handOverRules } from '../hand-over-rules.ts';
import { mutants } from '../mutants.ts';
import { releaseRules } from '../release-rules.ts';
import { type GuardSubject, rules } from '../rules.ts';

type Subject = GuardSubject & ExposureSubject;

/** The first that fails. */
async function caughtBy(subject: Subject): Promise<string | undefined> {
  for (const rule of [...handOverRules, ...releaseRules, ...rules])
    try {
      await rule(subject);
    } catch (error) {
      return `${rule.name}: ${String(error).split('\n')[0]}`;
    }
  return (await exposureFault(subject, 300, { isFirstEnough: true }))?.split('\n')[0];
}

const sources = `
  export { createGuard } from './lib/guard-rails/guard.ts';
  export { createHandOver } from './lib/orders/hand-over.ts';
  export { createMemoryOrderJournal, createSettlement } from './lib/orders/index.ts';`;

test('the code as it is passes', async () => {
  assert.equal(await caughtBy(await subjectWith<Subject>(sources)), undefined);
});

mutantTests(sources, mutants, caughtBy);
