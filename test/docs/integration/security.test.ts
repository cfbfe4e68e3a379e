/** SECURITY.md's tables say what the template and the code say: who holds secrets, who may write what, what bounds a channel. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, test } from 'vitest';
import { operations } from '../../../lib/catalogue/index.ts';
import { root } from '../../support/bundle.ts';
import { cell, codesIn, tableIn, textOf } from '../pages.ts';
import { sorted, type WholeStage, wholeStage, writes } from '../whole-stage.ts';

const page = 'SECURITY.md';

let stage: WholeStage;
beforeAll(() => {
  stage = wholeStage();
});

const secrets = () => tableIn(page, 'Secret', 'May be in', 'Never in');

for (const [secret, right] of [
  ["app secret, the upstream's access token", 'ReadSecret'],
  ['identity key', 'ReadIdentityKey'],
] as const)
  test(`each function that reads it is named: ${secret}`, () => {
    const row = secrets().find(([name]) => name?.trim() === secret) ?? [];
    const readers = stage.rights.filter(({ policy }) => policy === right).map((one) => one.function);
    const named = cell(row, 1).filter((name) => stage.functions.has(name));
    assert.deepEqual(sorted(new Set(named)), sorted(new Set(readers)));
  });

test('no variable of a function is a secret', () => {
  assert.deepEqual(stage.secretsInVariables, []);
});

test('it names the headers of a client that reach the upstream', () => {
  const [, named = ''] = /Of a client's headers, only (.*) reaches? the upstream/.exec(textOf(page)) ?? [];
  const sent = operations.filter(({ answeredBy, gatewayAnswer }) => !answeredBy && !gatewayAnswer);
  assert.deepEqual(codesIn(named), sorted(new Set(sent.flatMap(({ headers = [] }) => headers))));
});

const deciding = () =>
  tableIn(
    page,
    'Table',
    'What it decides',
    'Written by',
    'What bounds a function that would write what is not so',
  );

test('each table that decides about money has those who may write it, with the partitions that they may write', () => {
  for (const row of deciding()) {
    const [table = ''] = cell(row, 0);
    const told = (row[2] ?? '').split(';').flatMap((part) => {
      const [names = '', partitions = ''] = part.split(' in ');
      return codesIn(names)
        .filter((name) => !name.startsWith('countersign '))
        .map((name) => `${name}: ${sorted(codesIn(partitions))}`);
    });
    const rights = stage.rights.filter((right) => writes(right, table));
    const writers = [...new Set(rights.map((right) => right.function))].map((name) => {
      const own = rights.filter((right) => right.function === name).map(({ partitions }) => partitions);
      // One right that is for no partition alone is for all.
      const bounds = own.some(({ length }) => length === 0) ? [] : sorted(new Set(own.flat()));
      return `${name}: ${bounds}`;
    });
    assert.deepEqual(sorted(told), sorted(writers), table);
  }
});

test('it says of every other table that it decides nothing', () => {
  const [, others = ''] = /\n(.*) decide nothing: /.exec(textOf(page)) ?? [];
  const told = [...deciding().flatMap((row) => cell(row, 0)), ...codesIn(others)];
  assert.deepEqual(sorted(told), sorted(stage.tables));
});

const channels = () => tableIn(page, 'Channel', 'Read by', 'At most', 'Defined by');
const sourceOf = (file: string) => readFileSync(join(root, file), 'utf8');
const opens = /\?\? fetch\)\(|import\('mqtt'\)|from 'node:(https?|http2|net|tls)'/;

test('each file that reads from a connection stands by a channel', () => {
  const files = ['lib', 'functions'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
  );
  const named = channels().flatMap((row) => cell(row, 1));
  assert.deepEqual(sorted(named), sorted(files.filter((file) => opens.test(sourceOf(file)))));
});

test('each bound of a channel is the figure of the code', () => {
  const bounded = channels().filter((row) => cell(row, 3).length > 0);
  assert.ok(bounded.length >= 5);
  for (const row of bounded) {
    const [constant = '', file = ''] = cell(row, 3);
    const [, factors = ''] = new RegExp(`const ${constant} = ([\\d_ *]+);`).exec(sourceOf(file)) ?? [];
    const bytes = factors
      .split('*')
      .reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
    const [, size, unit] = /^ (\d+) (KiB|MiB)/.exec(row[2] ?? '') ?? [];
    assert.equal(Number(size) * (unit === 'MiB' ? 1024 * 1024 : 1024), bytes, `${row[0]}: ${factors}`);
  }
});

test('each thing that callers share has a test that plays the spoiler', () => {
  const rows = tableIn(page, 'Shared', "What bounds one caller's part", 'Test');
  assert.ok(rows.length >= 10);
  for (const [shared, , tests = ''] of rows) {
    const named = [...tests.matchAll(/`([^`]+)`: "([^"]+)"/g)];
    assert.ok(named.length > 0, shared);
    for (const [, file = '', title = ''] of named)
      assert.ok(sourceOf(file).includes(`('${title}'`), `${file}: ${title}`);
  }
});

test('it names files that are there, and no sentence twice', () => {
  const text = textOf(page);
  for (const file of codesIn(text).filter((code) => /^(lib|functions|test)\/.*\.ts$/.test(code)))
    assert.ok(sourceOf(file), file);
  const leads = [...text.matchAll(/\*\*[^*]+\*\*/g)].map(([lead]) => lead);
  assert.deepEqual(sorted(leads), sorted(new Set(leads)));
});
