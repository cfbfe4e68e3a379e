/** A bill for figures of one's own: beside the page of costs, and added up another way. */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { type BillOptions, billInWords, billOf } from '../../../infra/commands/bill.ts';
import { given, refused } from '../given.ts';

const asked = 'cost --stage prod --users 10000 --interval';

test('a month of ten thousand users, added up another way', async () => {
  const options = await given<BillOptions>(`${asked} 5`);
  const { reads, lines, total } = await billOf(options);
  assert.equal(reads, (10_000 / 5) * 3600 * 21);
  assert.ok(Math.abs((lines['API Gateway, requests'] ?? 0) - (reads / 1e6) * 3.5) < 1e-6);
  assert.ok(Math.abs(total - Object.values(lines).reduce((sum, one) => sum + one, 0)) < 1e-9);
  // The example shares nothing.
  assert.equal(lines['DynamoDB, shared snapshots'], 0);
  assert.match(billInWords(options, { reads, lines, total }), /^All of it +\$6\d\d\.\d\d$/m);
});

test('what a key can cost in a day is said for each plan', async () => {
  const options = await given<BillOptions>(`${asked} 5`);
  const words = billInWords(options, await billOf(options));
  assert.match(
    words,
    /^A key of the plan default can cost \$\d+\.\d\d a day, for 345,660 requests\. The dearest is listStockBars for 5825 records, 1,024 KiB: a million cost \$\d+\.\d\d from the upstream, \$\d+\.\d\d beyond its limit\. A quota would bound it\.$/m,
  );
});

test('a folder that the environment names for the CDK is left alone', async () => {
  const told = mkdtempSync(join(tmpdir(), 'countersign-bill-'));
  process.env.CDK_OUTDIR = told;
  try {
    await billOf(await given<BillOptions>(`${asked} 5`));
    assert.deepEqual(readdirSync(told), []);
  } finally {
    delete process.env.CDK_OUTDIR;
    rmSync(told, { recursive: true });
  }
});

test('twice as often is twice the reads, and secrets and alarms stay', async () => {
  const [slow, fast] = await Promise.all([
    billOf(await given<BillOptions>(`${asked} 5`)),
    billOf(await given<BillOptions>(`${asked} 10`)),
  ]);
  assert.equal(slow.reads, 2 * fast.reads);
  for (const line of ['Secrets Manager, secrets', 'CloudWatch, alarms'])
    assert.equal(slow.lines[line], fast.lines[line], line);
});

for (const [what, words, sentence] of [
  ['no users', '', '--users must say how many there are.'],
  ['no number', '--users many', /^--users must be a whole number from 1 to 10000000\.$/],
  ['an hour too many', '--users 10 --hours 25', /^--hours must be a whole number from 1 to 24\.$/],
  ['no such option', '--clients 10', /^There is no option --clients/],
  ['a stage that is not there', '--stage none --users 10', /^--stage must be one of dev, prod/],
] as const)
  test(`refused: ${what}`, () => refused(`cost ${words}`, sentence));
