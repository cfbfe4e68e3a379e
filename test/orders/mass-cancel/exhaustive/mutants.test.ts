/**
 * Would these tests notice a broken mass cancel? Each mutant breaks one rule in the real source, and the scenes or the
 * random histories that pass for the code as it is must fail for it.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { inFile, type Mutant, mutantTests, subjectWith } from '../../../support/mutants.ts';
import { massCancelFault } from '../histories.ts';
import { sceneFault } from '../scenes.ts';
import type { MassCancelSubject } from '../world.ts';

const run = inFile('orders/mass-cancel');
const scope = inFile('orders/mass-cancel-scope');
const open = inFile('orders/open-orders');

const mutants: readonly Mutant[] = [
  run('finished although something is open', '!sight.orders.some((one) => meansOrder(request, one))', 'true'),
  run('an account that was not read counts as clear', 'sight?.isWhole &&', '!sight || sight.isWhole &&'),
  run('an order whose placing is not known is no one’s', 'sight?.isWhole &&', 'sight &&'),
  run('finished at once', 'if (!isLateEnough(request, this.#startedAt)) return false;', ''),
  run(
    'only one account is looked at',
    'await inParallel(width, concerned, async',
    'await inParallel(width, concerned.slice(0, 1), async',
  ),
  run(
    'one that fails ends the run',
    'this.#options.reportFailure?.(cause);\n      return undefined;',
    'throw cause;',
  ),
  run('all orders have one key', "keys.get(id) ?? ''", "''"),
  run('a cancel has the same key for ever', 'const windowMs = 50_000;', 'const windowMs = 1e15;'),
  run(
    'the first cancel that is not accepted ends the rest',
    "if (outcome !== 'accepted') this.#counts.left++;",
    "if (outcome !== 'accepted') {\n        this.#counts.left++;\n        return;\n      }",
  ),
  run('all orders of an account go', 'requests.some((request) => meansOrder(request, one))', 'true'),
  run(
    'nothing is cancelled',
    'await inParallel(width, groupsOf(meant, keys),',
    'await inParallel(width, [] as ReturnType<typeof groupsOf>,',
  ),
  scope('the orders of others go with a user’s', 'scope === userScope(user))) &&', 'true)) &&'),
  scope('a user’s request means all accounts’ orders', '!scope.startsWith(userPrefix) ||', 'true ||'),
  scope('no order is a user’s', 'user !== undefined && scope === userScope(user)', 'false'),
  scope('an account’s request means every account', 'scope === accountScope(name)', 'true'),
  scope('an account’s request means none', 'scope === accountScope(name)', 'false'),
  scope('orders placed later go', 'placedAt === undefined || placedAt <= placedBefore', 'true'),
  scope(
    'an order of unknown time stays',
    'placedAt === undefined || placedAt <= placedBefore',
    'placedAt !== undefined && placedAt <= placedBefore',
  ),
  scope(
    'an order of another program is as old as its entry',
    'record?.placed_elsewhere ? undefined : own?.at',
    'own?.at',
  ),
  scope('the later time of placing counts', 'Math.min(...moments)', 'Math.max(...moments)'),
  scope('what may come late does not count', '- absenceCountsAfterMs - listLagMs', '- listLagMs'),
  run(
    'the parts go first',
    '...parts.filter(isMaster), ...parts.filter((one) => !isMaster(one))',
    '...parts',
  ),
  run('the first part ends the combination', 'parts.length > 1 && parts.some(isMaster)', 'parts.length > 1'),
  open(
    'a failing journal hides the orders',
    'const orders = open.map((order) => {',
    'const orders = (entries ? open : []).map((order) => {',
  ),
];

const source = `export { createMassCancels } from './lib/orders/index.ts';`;

const caughtBy = async (subject: MassCancelSubject): Promise<string | undefined> =>
  (await sceneFault(subject)) ?? (await massCancelFault(subject, 1500));

test('the code as it is passes', async () => {
  assert.equal(await caughtBy(await subjectWith(source)), undefined);
});

mutantTests(source, mutants, caughtBy);
