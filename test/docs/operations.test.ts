import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { notImitated } from '../../infra/documents/not-imitated.ts';
import { operationsTable, withSource } from '../../infra/documents/operations-table.ts';
import {
  exposedOperations,
  type GroupFacts,
  groups,
  openable,
  operations,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { textOf } from './pages.ts';

const text = operationsTable(operations);

test('docs/operations.md is current', () => {
  const file = join(import.meta.dirname, '../../docs/operations.md');
  assert.equal(readFileSync(file, 'utf8'), text, 'the catalogue has changed: npm run docs');
});

test('it has every operation, path and decision', () => {
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  for (const { id } of operations)
    assert.ok(
      rows.some((row) => row.startsWith(`| \`${id}\`<br>`)),
      id,
    );
  for (const { path } of routesOf(operations)) assert.ok(text.includes(`\`${path}\``), path);
  for (const decision of operations.flatMap(({ decisions = [] }) => decisions))
    assert.equal(text.split(`. ${decision}\n`).length, 2, `written once: ${decision}`);
});

test('each note stands there with its source, at the operations that it concerns', () => {
  const bullets = text.split('\n').filter((line) => line.startsWith('- '));
  const bulletOf = (note: string) => bullets.filter((line) => line.endsWith(`: ${note}`));
  for (const { id, notes = [] } of operations)
    for (const note of notes.map(withSource)) {
      assert.match(
        note,
        / _\((interface text|seen live|vendor’s SDK|vendor’s page|inferred|the gateway’s own)\)_$/,
      );
      assert.ok(
        bulletOf(note).some((line) => line.includes(`\`${id}\``)),
        `${id}: ${note}`,
      );
    }
  for (const { notes = [] } of Object.values<GroupFacts>(groups))
    for (const note of notes.map(withSource)) assert.deepEqual(bulletOf(note), [`- All: ${note}`]);
});

test('what is known and not imitated stands there with the reason', () => {
  const section = text.slice(text.indexOf('## Known, not imitated'));
  assert.ok(notImitated.length > 0);
  for (const { fact, reason } of notImitated) assert.ok(section.includes(`| ${fact} | ${reason} |`), fact);
});

test('no cell breaks its table', () => {
  for (const row of text.split('\n').filter((line) => line.startsWith('| `')))
    assert.match(row, /^(\|( [^|]+| ?)){2,6} \|$/, row);
});

test('other pages count as many operations', () => {
  const ofInterface = operations.filter(({ answeredBy }) => !answeredBy);
  const offered = exposedOperations(ofInterface, openable).length;
  const all = `${ofInterface.length} HTTP operations`;
  for (const [page, words] of [
    ['README.md', `all ${all} of the interface, and offers ${offered} of them`],
    ['docs/architecture.md', `the interface's ${all} the gateway offers ${offered}`],
  ] as const)
    assert.ok(textOf(page).includes(words), `${page} must say: ${words}`);
});
