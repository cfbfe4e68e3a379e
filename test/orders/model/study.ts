/**
 * `npm run study -- orders [histories] [states]`: interleavings of the model with several faults in each history, up to so
 * many states of each scenario, and random histories in virtual time.
 */

import { createHandOver } from '../../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal, createSettlement } from '../../../lib/orders/index.ts';
import { explore } from './explore.ts';
import { liveHistories } from './random-histories.ts';
import { largeScenarios } from './scenarios.ts';

const subject = { createHandOver, createMemoryOrderJournal, createSettlement };

/** @returns whether no order was doubled, lost or misreported */
export async function studyOrders([count = '1000000', maxStates = '200000', seed = '0']: readonly string[]) {
  let isClean = true;
  console.log('| scenario | states | histories | all | findings |');
  console.log('|---|---|---|---|---|');
  for (const scenario of Number(maxStates) > 0 ? largeScenarios : []) {
    const { states, histories, isComplete, findings } = await explore(scenario, subject, {
      maxStates: Number(maxStates),
    });
    isClean &&= findings.length === 0;
    console.log(
      `| ${scenario.name} | ${states} | ${histories} | ${isComplete ? 'yes' : 'no'} | ${findings.length} |`,
    );
    for (const finding of findings) console.log(finding);
  }
  const lived = await liveHistories(Number(count), subject, {
    firstSeed: Number(seed),
    report: (index, findings) => {
      if (index > 0 && index % 10_000 === 0) console.log(`${index} histories, ${findings} findings`);
    },
  });
  console.log(JSON.stringify(lived.figures));
  for (const finding of lived.findings) console.log(finding);
  return isClean && lived.findings.length === 0;
}
