/** docs/operation.md has what an operator meets: the events of the log, metrics, outputs. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { dimensionOf } from '../../functions/log/metrics.ts';
import { withTables } from '../../infra/cost/cost-tables.ts';
import { alarmTableLines } from '../../infra/documents/alarm-tables.ts';
import { alarmRows, alarmTable, runbookAnchor } from '../../infra/stack/alarm-table.ts';
import { marketDataUsePage } from '../../infra/stack/market-data-use.ts';
import { causes } from '../../lib/upstream/cause.ts';
import { root } from '../support/bundle.ts';
import { anchorsOf, firstColumn, textOf } from './pages.ts';

const page = 'docs/operation.md';

const sourceOf = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8'))
    .join('\n');

const functions = sourceOf('functions');

/** What the audit of orders does not take; its own page says what to do. */
const ofAudit = ['order_not_audited', 'order_event_not_published'];

test('it has every event of the log, and no other', () => {
  const logged = [...functions.matchAll(/(?:event: |[,:] failed\()'(\w+)'/g)].map(([, name]) => name);
  assert.ok(logged.length > 8);
  assert.deepEqual([...firstColumn(page, 'Logs'), ...ofAudit].sort(), [...new Set(logged)].sort());
  const audit = readFileSync(join(root, 'docs/order-audit.md'), 'utf8');
  for (const name of ofAudit) assert.ok(audit.includes(`\`${name}\``), name);
});

test('its metrics are those that the functions write', () => {
  const named = firstColumn(page, 'Metrics');
  assert.ok(named.length > 20);
  for (const name of named) assert.ok(dimensionOf(name), name);
});

test('its table of alarms is that of the stack, and each row leads to a chapter of the runbook', () => {
  const text = textOf(page);
  assert.equal(text, withTables(text, [alarmTableLines()]), 'the alarms have changed: npm run docs');
  assert.deepEqual(
    firstColumn(page, 'Alarms').filter((name) => name in alarmTable),
    Object.keys(alarmTable),
  );
  const chapters = anchorsOf('docs/runbook.md');
  for (const [name, { runbook }] of alarmRows) {
    assert.ok(chapters.has(runbookAnchor(runbook)), runbook);
    const [, chapter = ''] = textOf('docs/runbook.md').split(`\n## ${runbook}\n`);
    assert.ok(chapter.split('\n## ')[0]?.includes(`\`${name}\``), `${runbook} does not name ${name}`);
  }
});

test('each chapter of the runbook says what one sees, what is true, what to do, and when it is over', () => {
  for (const chapter of textOf('docs/runbook.md').split('\n## ').slice(1))
    assert.deepEqual(
      [...chapter.matchAll(/^- \*\*(.*?)\*\*/gm)].map(([, lead]) => lead),
      ['You see', 'What is true', 'Do', 'It is over when'],
      chapter.slice(0, 40),
    );
});

test('its outputs are those of the stack', () => {
  const stack = sourceOf('infra/stack');
  for (const name of firstColumn('docs/deployment.md', 'Deploy').filter((one) => one !== '…'))
    assert.match(stack, new RegExp(`['\`]${name}\\b`), name);
});

test('it has every cause, and no other', () => {
  assert.deepEqual([...firstColumn(page, 'Smoke')].sort(), [...causes].sort());
});

test('the refusal of a stage that names no basis links to its chapter', () => {
  const [path = '', anchor = ''] = marketDataUsePage.split('#');
  assert.ok(anchorsOf(path).has(anchor), anchor);
});
