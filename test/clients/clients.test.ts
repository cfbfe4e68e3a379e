/**
 * Clients that generators make of the document, compiled and run against the local run: the programs of docs/examples,
 * each as its reader makes it. `CLIENTS=all` takes every document in place of the first, and writes the page's table; without it
 * one generator does, which is quick, and whose client decodes strictly.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterAll, describe, test } from 'vitest';
import { orSkip } from '../support/missing.ts';
import { type DocumentName, isForGenerators } from './documents.ts';
import type { Generator } from './generator.ts';
import { generators } from './generators/index.ts';
import { oapiCodegen } from './generators/oapi-codegen.ts';
import { readme, rowInPage, rowOf, writeTable } from './table.ts';
import { attempt } from './trial.ts';

const isWhole = process.env.CLIENTS === 'all';

/** In the order of the table. */
const trials = generators.flatMap((generator) =>
  generator.documents.map((document) => ({ generator, document })),
);
const rows = new Map<string, string>();
const keyOf = (generator: Generator, document: DocumentName) => `${generator.name}, ${document}`;

const start = Date.now();
afterAll(() => {
  console.log(
    `clients of ${generators.length} generators: ${((Date.now() - start) / 60_000).toFixed(1)} min`,
  );
  if (!isWhole) return;
  writeTable(
    trials.flatMap(({ generator, document }) => {
      const row = rows.get(keyOf(generator, document)) ?? rowInPage(generator, document);
      return row === undefined ? [] : [row];
    }),
  );
});

for (const generator of generators) {
  const { name, version, documents } = generator;
  describe(`${name} ${version}`, { concurrent: true, ...orSkip(generator.missing()) }, () => {
    for (const document of isWhole || generator === oapiCodegen ? documents : documents.slice(0, 1))
      test(`a client of the document ${document}`, async () => {
        const trial = await attempt(generator, document);
        const { failedAt, said, seconds } = trial;
        const result = failedAt ? `fails at ${failedAt}` : 'all steps';
        console.log(`${name}, ${document}: ${result}, ${seconds.toFixed(0)} s`);
        const row = rowOf(generator, document, trial);
        rows.set(keyOf(generator, document), row);
        if (isForGenerators(document)) assert.equal(failedAt, undefined, said);
        // What the exact document fails at stands in the page.
        if (!isWhole) assert.equal(row, rowInPage(generator, document));
      });
  });
}

test('the page has every command that is run here', () => {
  const page = readFileSync(readme, 'utf8');
  for (const { example, generate, compile, run } of generators)
    if (!example.includes('/'))
      for (const line of [...generate, ...compile, run]) assert.ok(page.includes(line), line);
});
