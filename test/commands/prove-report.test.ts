/** The report of a first day on AWS: what it says of lines and figures as AWS writes them, beside the pages. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { withhold } from '../../infra/commands/prove/prove-command.ts';
import { runIn, startUpOf } from '../../infra/commands/prove/prove-measure.ts';
import {
  compare,
  isProven,
  type ProofReport,
  priceOf,
  verdictOf,
} from '../../infra/commands/prove/prove-report.ts';
import { createSteps } from '../../infra/commands/prove/prove-steps.ts';
import { subjectIn } from '../../infra/commands/prove/prove-users.ts';
import { orderInWords, proofInWords } from '../../infra/commands/prove/prove-words.ts';
import { StartError } from '../../infra/environment.ts';
import { root } from '../support/bundle.ts';
import { given, refused } from './given.ts';

const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const line = (ms: string, billed: number, init = '') =>
  `REPORT RequestId: 3f0a-11\tDuration: ${ms} ms\tBilled Duration: ${billed} ms\tMemory Size: 512 MB\tMax Memory Used: 98 MB\t${init}\n`;
const runs = [
  line('101.50', 400, 'Init Duration: 298.11 ms\t'),
  line('21.00', 21),
  line('19.20', 20),
  line('900.00', 900),
].flatMap((text, at) => runIn(text, 'marketdata', 1000 + at) ?? []);
const groups: ProofReport['groups'] = [
  {
    group: 'market-data',
    operation: 'getStockSnapshots',
    access: 'api-key',
    outcomes: { answered: 9, budget_used_up: 1 },
    waits: 2,
    ms: { median: 40, most: 510 },
    oldestSeconds: 2,
    // The last run is of a request that waited for the limiter.
    period: [1000, 1002],
  },
];
const startUp = startUpOf(runs);
const sums = { throttles: 0, readUnits: 100, writeUnits: 40 };

test('lines of Lambda are read as it writes them, and others are none', () => {
  assert.equal(runs.length, 4);
  assert.deepEqual(startUp, [
    { function: 'marketdata', starts: 1, initMs: 298, firstMs: 400, warmMs: 21, usedMiB: 98 },
  ]);
  for (const other of ['START RequestId: 1', '{"event":"request"}', 'REPORT of mine'])
    assert.equal(runIn(other, 'marketdata', 0), undefined);
});

test('the figures that it compares with stand in the pages', () => {
  const pages = compare(runs, startUp, groups, sums).map(({ page }) => page.split(',')[0] ?? '');
  assert.deepEqual([...new Set(pages)], ['docs/load.md', 'docs/cost.md']);
  const [start, time, million, age] = compare(runs, startUp, groups, sums);
  assert.match(textOf('docs/load.md'), new RegExp(`Starting a Lambda instance \\| ${start?.figure} ms`));
  assert.match(textOf('docs/load.md'), new RegExp(`100 phones, 3 min \\| .* / ${age?.figure} \\|`));
  assert.match(textOf('docs/cost.md'), new RegExp(`with few clients ${time?.figure} ms`));
  assert.match(
    textOf('docs/cost.md'),
    new RegExp(`\\*\\*Together\\*\\* .*\\*\\*\\$${million?.figure.toFixed(2)}\\*\\*`),
  );
});

test('a figure holds, is so many times as much, or was not measured', () => {
  const verdicts = (...given: Parameters<typeof compare>) => compare(...given).map(verdictOf);
  assert.deepEqual(verdicts(runs, startUp, groups, sums), ['holds', 'holds', 'holds', 'holds', 'holds']);
  assert.deepEqual(verdicts([], [], [], {}), ['open', 'open', 'open', 'open', 'open']);
  const slow = runs.map((run) => ({ ...run, billedMs: run.billedMs * 10 }));
  const slowStarts = startUp.map((one) => ({ ...one, firstMs: 1000 }));
  assert.deepEqual(verdicts(slow, slowStarts, groups, { throttles: 3, writeThrottles: 1 }), [
    '2.5 times as much',
    '4.0 times as much',
    'holds',
    'holds',
    'does not hold',
  ]);
});

test('the price is added up of what AWS counts, and says what it has no figure of', () => {
  const asked = { requests: 1_000_000, runs, hours: 73, restMonth: 10 };
  const { lines, total, missing } = priceOf({ ...asked, sums: { ...sums, invocations: 1_000_000 } });
  assert.equal(lines['API Gateway, requests'], 3.5);
  assert.equal(lines['Lambda, requests'], 0.2);
  assert.ok(Math.abs((lines['Lambda, time'] ?? 0) - 1.341 * 0.5 * 0.0000133334) < 1e-9);
  assert.ok(Math.abs((lines['DynamoDB, all tables'] ?? 0) - (100 * 0.125 + 40 * 0.625) / 1e6) < 1e-12);
  assert.equal(lines['Secrets and alarms, so long'], 1);
  assert.ok(Math.abs(total - Object.values(lines).reduce((sum, one) => sum + one, 0)) < 1e-12);
  assert.deepEqual(missing, []);
  assert.deepEqual(priceOf({ ...asked, runs: [], sums: {} }).missing, ['DynamoDB’s units', 'Lambda’s time']);
});

describe('the text', () => {
  const report: ProofReport = {
    stack: 'Countersign-prove',
    version: '0.1.0',
    region: 'eu-central-1',
    began: '2026-11-25T20:00:00.000Z',
    minutes: 11.5,
    steps: [
      { name: 'deploy', result: 'done', says: 'Countersign-prove is deployed.', seconds: 210 },
      { name: 'order', result: 'failed', says: 'two\nlines | and a bar', seconds: 61 },
    ],
    groups,
    limit: { allowed: 30, share: 0.5, sent: 20, outcomes: { answered: 15, budget_used_up: 5 }, holds: true },
    order: { clientOrderId: 'prove-1', limitPrice: '114.25', placed: 'unknown', ended: 'unknown' },
    stream: { seconds: 10, firstMs: 320, updates: 17, oldestMs: 1900 },
    startUp,
    sums,
    price: priceOf({ requests: 100, runs, sums, hours: 0.2, restMonth: 1 }),
    compared: compare(runs, startUp, groups, sums),
    left: ['DynamoDB Table Countersign-prove-OrderJournal: deleted; AWS keeps a backup for 35 days'],
  };
  const words = proofInWords(report);

  test('says what was done, measured, paid and left', () => {
    assert.ok(!isProven(report));
    for (const part of [
      'Not each step was done. Began 2026-11-25T20:00:00.000Z, 11.5 minutes, eu-central-1, version 0.1.0.',
      '| order | failed | 61 | two lines \\| and a bar |',
      '| A request that starts an instance, median | docs/load.md, The platform | 400 ms | 400 ms | holds |',
      '| marketdata | 1 | 298 | 400 | 21 | 98 |',
      '| throttles | 0 |',
      '| market-data | getStockSnapshots | api-key | 9 answered, 1 budget_used_up | 2 | 40 | 510 | 2 |',
      'The upstream allows 30; the stage takes 0.5 of it. Sent 20: 15 answered, 5 budget_used_up. The gateway refused the rest, and the upstream nothing.',
      'it is not known whether it was placed. **Whether it is open is not known: look it up at the broker, and cancel it there.**',
      'First quotes after 320 ms, 17 updates in 10 s, the oldest quote 1900 ms old.',
      '- DynamoDB Table Countersign-prove-OrderJournal: deleted; AWS keeps a backup for 35 days',
    ])
      assert.ok(words.includes(part), `${part}\n\n${words}`);
  });

  test('says what a stream told of the order, and what it did not', () => {
    const order = {
      clientOrderId: 'prove-1',
      limitPrice: '114.25',
      placed: 'accepted',
      ended: 'cancelled',
    } as const;
    const said = (more: object) => orderInWords({ ...order, ...more }).split('then cancelled.')[1];
    assert.equal(said({}), '');
    assert.equal(
      said({ told: { replaced: 410, cancelled: undefined } }),
      ' The stream told the replacement after 410 ms. The stream did not tell the cancellation.',
    );
    assert.equal(
      said({ replaceCode: 'upstream_rejected', told: { replaced: undefined, cancelled: 7 } }),
      ' The replacement was answered upstream_rejected. The stream told the cancellation after 7 ms.',
    );
  });

  test('of a day that ended before it began says that nothing was measured, and nothing is left', () => {
    const { limit: _, order: __, stream: ___, price: ____, version: _____, ...rest } = report;
    const short = proofInWords({ ...rest, groups: [], startUp: [], sums: {}, left: [] });
    assert.match(short, /No line of Lambda’s with an Init Duration was found\./);
    assert.match(short, /CloudWatch had no figures yet\./);
    assert.match(short, /## What is left in the account\n\nNothing\.\n$/);
    assert.doesNotMatch(short, /undefined|## The order/);
  });

  test('what is confidential is withheld, should a step have said it', () =>
    assert.equal(
      withhold('key k-1 of 123456789012', ['', 'k-1', '123456789012']),
      'key (withheld) of (withheld)',
    ));
});

describe('a step', () => {
  test('that fails says why, without what was sent, and hides no other', async () => {
    const said: string[] = [];
    const { all, step } = createSteps(
      () => 0,
      (line) => void said.push(line),
      undefined,
    );
    assert.equal(await step('one', () => Promise.reject(new StartError('The stack cannot be read.'))), false);
    assert.equal(await step('two', () => Promise.reject(new TypeError('canary'))), false);
    assert.equal(await step('three', async () => ({ fault: 'No quote came.' })), false);
    assert.equal(await step('four', async () => 'All is well.'), true);
    assert.deepEqual(
      all.map(({ result, says }) => `${result}: ${says}`),
      [
        'failed: The stack cannot be read.',
        'failed: It failed with TypeError.',
        'failed: No quote came.',
        'done: All is well.',
      ],
    );
    assert.ok(!said.join().includes('canary'));
  });

  test('is left out once the person has interrupted, but the end is not', async () => {
    const interrupted = new AbortController();
    const { all, step, measure } = createSteps(
      () => 0,
      () => {},
      interrupted.signal,
    );
    interrupted.abort();
    assert.equal(await measure('smoke', () => assert.fail('called')), false);
    assert.equal(await step('destroy', async () => 'It is deleted.'), true);
    assert.deepEqual(
      all.map(({ name, result }) => `${name} ${result}`),
      ['smoke left out', 'destroy done'],
    );
  });
});

test('a token says whom to grant to; one that does not is not repeated', () => {
  const tokenOf = (claims: string) => `e30.${Buffer.from(claims).toString('base64url')}.c2ln`;
  assert.equal(subjectIn(tokenOf('{"sub":"8f0c"}')), '8f0c');
  for (const token of ['opaque', tokenOf('{}'), tokenOf('null'), tokenOf('{"sub":""}')])
    assert.throws(() => subjectIn(token), {
      message: 'TOKEN must be an access token of the stage’s issuer, with the claim sub.',
    });
});

describe('the command line', () => {
  test('an order is for a sandbox that the person names, and that is the stage’s upstream', async () => {
    const sandbox = async (words: string) =>
      (await given<{ readonly isSandbox: boolean }>(`prove ${words}`)).isSandbox;
    assert.equal(await sandbox(''), false);
    assert.equal(await sandbox('--sandbox https://api.example.com/'), true);
    await refused(
      'prove --sandbox https://sandbox.example.com',
      '--sandbox must be upstream.baseUrl of the stage prove, which is another.',
    );
  });

  test('keys on standard input leave nothing to ask by', () =>
    refused('prove --credentials -', /^--credentials - needs --yes/));
});
