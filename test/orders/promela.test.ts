/**
 * Models of the rules of orders, each explored to its last state: today's rules break no property, each seed breaks one (an
 * old rule, half of a rule, or an assumption that is dropped), and each property is broken by a seed.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { describe, test } from 'vitest';
import { root } from '../support/bundle.ts';
import { orSkip } from '../support/missing.ts';

const folder = join(import.meta.dirname, 'promela');
const found = (pattern: RegExp, text: string) => [
  ...new Set([...text.matchAll(pattern)].map(([, one = '']) => one)),
];
const models = readdirSync(folder).map((file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  return { name: basename(file, '.pml'), text, seeds: found(/(?:#ifn?def |defined\()(\w+)/g, text) };
});

const folders = (process.env.PATH ?? '').split(delimiter);
const missing = ['spin', 'cc'].every((tool) => folders.some((one) => existsSync(join(one, tool))))
  ? undefined
  : 'spin is missing, or a C compiler: apt-get install --no-install-recommends spin gcc libc6-dev';

/** With a seed it goes on for a while, because the first assertion that breaks is seldom the only one. */
function explore(model: string, seed?: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'countersign-spin-'));
  const run = (tool: string, ...args: readonly string[]) =>
    execFileSync(tool, args, { cwd, encoding: 'utf8' });
  try {
    run('spin', '-a', ...(seed ? [`-D${seed}`] : []), join(folder, `${model}.pml`));
    run('cc', '-O1', '-DSAFETY', '-o', 'pan', 'pan.c');
    const said = run('./pan', '-m1000000', ...(seed ? ['-c2000'] : []));
    return {
      /** As the checker writes them. */
      assertions: found(/spin_assert\(.*?, "(.*?)", II/g, readFileSync(join(cwd, 'pan.m'), 'utf8')),
      broken: found(/^pan:\d+: assertion violated (.*) \(at depth/gm, said),
      unreached: found(/\.pml:(\d+, state \d+, "(?!-end-).*")/g, said),
      isComplete: /errors: 0$/m.test(said) && !/not completed|too small/.test(said),
      figures: `${found(/^ *(\d+) states, stored/gm, said)[0]} states, ${found(/elapsed time (\S+)/g, said)[0]} s`,
    };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

describe('every state of a model', orSkip(missing), () => {
  test.each(models)('$name', ({ name, seeds }) => {
    const { figures, assertions, ...today } = explore(name);
    console.log(`${name}: ${figures}`);
    assert.deepEqual(today, { broken: [], unreached: [], isComplete: true });
    const unbroken = new Set(assertions);
    for (const seed of seeds) {
      const { broken, figures } = explore(name, seed);
      console.log(`${name}, ${seed}: ${figures}, not ${broken.join(', ')}`);
      assert.ok(broken.length > 0, `${seed} breaks nothing`);
      for (const one of broken) unbroken.delete(one);
    }
    assert.deepEqual([...unbroken], [], 'no seed breaks it');
  });
});

test('each row of old rules is a seed, and the page names each seed and each property', () => {
  const rows = models.flatMap(({ seeds }) => seeds.filter((seed) => seed.startsWith('ROW')));
  assert.deepEqual(rows.sort(), ['ROW2', 'ROW3', 'ROW4', 'ROW5', 'ROW6', 'ROW9']);
  const page = readFileSync(join(root, 'docs/orders-model.md'), 'utf8');
  for (const { name, text, seeds } of models) {
    const names = [...text.matchAll(/assert\(.*?(?:\/\* (\w+): .*|$)/gm)].map(([, one]) => `${name}: ${one}`);
    for (const one of [...names, ...seeds]) assert.ok(page.includes(`\`${one}\``), one);
  }
});
