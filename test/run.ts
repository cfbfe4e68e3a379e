/**
 * Runs every test file in a process of its own, as many at a time as there are cores, and ends with one
 * line that says what came of it. Arguments narrow the run, each a part of a path:
 *
 *     node --import tsx test/run.ts signer runtimes
 */

import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { type Outcome, Tally } from './support/tally.ts';

const root = join(import.meta.dirname, '..');
const filters = process.argv.slice(2);

const files = [...testFiles(import.meta.dirname)]
  .filter((file) => filters.length === 0 || filters.some((part) => relative(root, file).includes(part)))
  .sort();

const tally = new Tally();
const count = (kind: 'pass' | 'fail') => (outcome: Outcome) => {
  const file = outcome.file && relative(root, outcome.file);
  const name = outcome.name === outcome.file ? (file ?? '') : outcome.name;
  const line = tally.add(kind, { ...outcome, file, name });
  if (line) console.log(line);
};

// Without files `run` would look for some of its own.
if (files.length > 0) {
  const stream = run({ files, concurrency: Math.max(2, availableParallelism()), timeout: 300_000 });
  stream.on('test:pass', count('pass'));
  stream.on('test:fail', count('fail'));
  stream.on('test:stdout', ({ message }) => process.stdout.write(message));
  stream.on('test:stderr', ({ message }) => process.stderr.write(message));
  await new Promise((resolve) => stream.on('close', resolve).resume());
}
console.log(`${tally}`);
process.exitCode = tally.ok ? 0 : 1;

function* testFiles(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === '.build') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* testFiles(path);
    else if (entry.name.endsWith('.test.ts')) yield path;
  }
}
