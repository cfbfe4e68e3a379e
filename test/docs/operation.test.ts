/** docs/operation.md has what an operator meets: the events of the log, metrics, outputs. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { marketDataUsePage } from '../../infra/stack/market-data-use.ts';
import { causes } from '../../lib/upstream/cause.ts';
import { root } from '../support/bundle.ts';
import { anchorsOf, firstColumn } from './pages.ts';

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
  const named = firstColumn(page, 'Metrics and alarms');
  assert.ok(named.length > 20);
  for (const name of named) assert.match(functions, new RegExp(`\\b${name}\\b`));
});

test('it has every alarm of the stack, and no other', () => {
  const made = [...sourceOf('infra/stack').matchAll(/'(\w+Alarm)'/g)].map(([, name]) => name);
  const [own, elsewhere] = [
    firstColumn(page, 'Alarms'),
    [page, 'docs/trade-events.md', 'docs/order-audit.md'],
  ];
  for (const name of own) assert.ok(made.includes(name), name);
  const told = elsewhere.map((one) => readFileSync(join(root, one), 'utf8')).join('\n');
  for (const name of made) assert.match(told, new RegExp(`\`${name}\``));
});

test('its outputs are those of the stack', () => {
  const stack = sourceOf('infra/stack');
  for (const name of firstColumn(page, 'Deploy').filter((one) => one !== '…'))
    assert.match(stack, new RegExp(`['\`]${name}\\b`), name);
});

test('it has every cause, and no other', () => {
  assert.deepEqual([...firstColumn(page, 'Smoke')].sort(), [...causes].sort());
});

test('the refusal of a stage that names no basis links to its chapter', () => {
  const [path = '', anchor = ''] = marketDataUsePage.split('#');
  assert.equal(path, page);
  assert.ok(anchorsOf(page).has(anchor), anchor);
});
