/** docs/architecture.md has every function, right, variable and table of a whole stage, and names files that are there. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, test } from 'vitest';
import { apiNames, apiRows, workerNames, workerRows } from '../../../functions/rows.ts';
import { root } from '../../support/bundle.ts';
import { cell, codesIn, tableIn, textOf } from '../pages.ts';
import { type Right, sorted, type WholeStage, wholeStage, writes } from '../whole-stage.ts';

const page = 'docs/architecture.md';

let stage: WholeStage;
beforeAll(() => {
  stage = wholeStage();
});

/** The rows of the table with these columns, as cells. */
const tableOf = (...columns: readonly string[]) => tableIn(page, ...columns);

/** Written by every function. */
const isOwn = ({ policy }: Right) => policy !== 'WriteLog';
const textOfRight = ({ policy, function: name, actions, on, partitions }: Right) =>
  [policy, name, sorted(actions), sorted(new Set(on)), sorted(partitions)].map(String).join(' | ');

test('it has the rights of each function, and no other', () => {
  const told = tableOf('Right', 'Functions', 'Actions', 'On').flatMap((row) => {
    const [where = '', partitions = ''] = (row[3] ?? '').split(' in ');
    return cell(row, 1).map((name) =>
      textOfRight({
        policy: cell(row, 0)[0] ?? '',
        function: name,
        actions: cell(row, 2),
        on: codesIn(where),
        partitions: codesIn(partitions),
      }),
    );
  });
  assert.deepEqual(sorted(told), sorted(stage.rights.filter(isOwn).map(textOfRight)));
});

test('it has the rights and variables of each function by its name', () => {
  const sets = new Map(
    tableOf('Variables', 'Which', 'A function has them when').map((row) => [
      (row[0] ?? '').trim(),
      cell(row, 1),
    ]),
  );
  const told = tableOf('Function', 'Started by', 'Rights', 'Variables').map((row) => {
    const words = (row[3] ?? '').split(',').map((one) => one.trim());
    const variables = words.flatMap((word) => sets.get(word) ?? codesIn(word));
    return { name: cell(row, 0)[0] ?? '', rights: sorted(cell(row, 2)), variables: sorted(variables) };
  });
  const deployed = [...stage.functions].map(([name, variables]) => ({
    name,
    rights: sorted(
      new Set(stage.rights.filter((one) => one.function === name && isOwn(one)).map(({ policy }) => policy)),
    ),
    variables: sorted(variables),
  }));
  const byName = (all: typeof told) => [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
  assert.deepEqual(byName(told), byName(deployed));
  assert.deepEqual(
    // Direct lookups are the same code with another setting.
    sorted([...stage.functions.keys()].filter((name) => name !== 'direct-lookup')),
    readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('/handler.ts'))
      .map((path) => path.slice(0, -'/handler.ts'.length))
      .sort(),
  );
});

test('it says of each function what starts it, as its row does', () => {
  const told = new Map(
    tableOf('Function', 'Started by', 'Rights', 'Variables').map((row) => [
      cell(row, 0)[0] ?? '',
      (row[1] ?? '').trim(),
    ]),
  );
  for (const name of apiNames) assert.equal(told.get(name), apiRows[name]?.startedBy ?? 'API Gateway', name);
  for (const name of workerNames) {
    const { startedBy, eachMinute } = workerRows[name];
    assert.equal(told.get(name), startedBy, name);
    assert.equal(/each minute/.test(startedBy), eachMinute !== undefined, name);
  }
});

const writersOf = (table: string) =>
  sorted(new Set(stage.rights.filter((right) => writes(right, table)).map((right) => right.function)));

test('it has each table, and who may write it', () => {
  const rows = tableOf('Table', 'Holds', 'Written by', 'Read by others', 'Its end');
  assert.deepEqual(sorted(rows.map((row) => cell(row, 0)[0] ?? '')), sorted(stage.tables));
  for (const row of rows) {
    const [table = ''] = cell(row, 0);
    const functions = cell(row, 2).filter((name) => !name.startsWith('countersign '));
    assert.deepEqual(sorted(functions), writersOf(table), table);
  }
  const items = new Set(tableOf('Item', 'Table', 'Lives', 'Decided in').flatMap((row) => cell(row, 1)));
  assert.deepEqual(sorted(items), sorted(stage.tables));
});

test('it names files that are there', () => {
  const files = new Set(
    ['lib', 'functions', 'infra'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => path.split(/[\\/]/).at(-1) ?? '',
      ),
    ),
  );
  const named = codesIn(textOf(page)).filter((code) => /^[\w-]+\.ts$/.test(code));
  const drawn = [...textOf(page).matchAll(/ {2}([\w-]+\.ts)$/gm)].map(([, name = '']) => name);
  assert.ok(named.length > 80 && drawn.length > 8);
  for (const name of [...named, ...drawn]) assert.ok(files.has(name), name);
});
