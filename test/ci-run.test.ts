/** `.ci/run` with stand-ins for all that it starts: its end names what failed and what was skipped, and counts both. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { root } from './support/bundle.ts';

/** What a stand-in does, in place of one that tells of a good run: a line of shell. */
interface Does {
  readonly setup?: string;
  readonly test?: string;
  readonly exhaustive?: string;
  readonly study?: string;
  readonly ceilings?: string;
}

/** @returns the status, and the lines after the times */
function run(
  t: TestContext,
  does: Does,
): Promise<{ readonly code: number; readonly end: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'ci-run-'));
  t.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const one of ['.ci', 'bin']) mkdirSync(join(folder, one));
  copyFileSync(join(root, '.ci/run'), join(folder, '.ci/run'));
  const { setup = ':', study = ':', ceilings = ':', ...tests } = does;
  const { test = "echo '5 passed, 0 failed'", exhaustive = "echo '7 passed, 0 failed'" } = tests;
  const npm = `case "$*" in ci) ;; 'run test:setup') ${setup} ;; test | 'run test') ${test} ;;
    'run test:exhaustive') ${exhaustive} ;; 'run study '*) ${study} ;; *) exit 9 ;; esac`;
  const node = `echo times; ${ceilings}`;
  for (const [name, text] of Object.entries({ npm, node }))
    writeFileSync(join(folder, 'bin', name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  return new Promise((resolve) =>
    execFile('bash', [join(folder, '.ci/run')], { env }, (error, stdout) => {
      const lines = stdout.trim().split('\n');
      resolve({ code: Number(error?.code ?? 0), end: lines.slice(lines.indexOf('times') + 1) });
    }),
  );
}

describe('a run of CI', { concurrent: true }, () => {
  test('that is good ends in what passed', async (t) =>
    assert.deepEqual(await run(t, {}), { code: 0, end: ['12 passed, 0 failed'] }));

  test('in a clone without its history names what needs it, and is good', async (t) => {
    const exhaustive =
      "echo '- skipped: no history: git fetch --unshallow'; echo '6 passed, 0 failed, 1 skipped'";
    const end = ['- skipped: no history: git fetch --unshallow', '11 passed, 0 failed, 1 skipped'];
    assert.deepEqual(await run(t, { exhaustive }), { code: 0, end });
  });

  for (const [what, does, ...end] of [
    [
      'a failed test',
      { test: "echo '- failed: a > b: why'; echo '4 passed, 1 failed'; exit 1" },
      '- failed: a > b: why',
      '11 passed, 1 failed',
    ],
    [
      'skipped tests',
      { exhaustive: "echo '- skipped: no engine'; echo '6 passed, 0 failed, 2 skipped'" },
      '- skipped: no engine',
      '- failed: CI skips nothing else',
      '11 passed, 1 failed, 2 skipped',
    ],
    ['the study', { study: 'exit 1' }, '- failed: npm run study -- limiter 262500 6', '12 passed, 1 failed'],
    [
      'a ceiling',
      { ceilings: "echo '- failed: minutes grew'; exit 1" },
      '- failed: minutes grew',
      '12 passed, 1 failed',
    ],
    [
      'what an installation lacks, by a test that needs it,',
      { setup: 'exit 1', test: "echo '- failed: a: no spin'; echo '4 passed, 1 failed'; exit 1" },
      '- failed: a: no spin',
      '11 passed, 1 failed',
    ],
    [
      'a run that breaks off',
      { test: "echo '- failed: a > b: why'; exit 1" },
      '- failed: a > b: why',
      '- failed: npm run test',
      '7 passed, 1 failed',
    ],
    ['a run without tests', { test: 'exit 2' }, '- failed: npm run test', '7 passed, 1 failed'],
    [
      'a run that fails after its tests',
      { exhaustive: "echo '7 passed, 0 failed'; exit 1" },
      '- failed: npm run test:exhaustive',
      '12 passed, 1 failed',
    ],
  ] as const satisfies readonly (readonly [string, Does, ...string[]])[])
    test(`names ${what} at its end, and counts it`, async (t) =>
      assert.deepEqual(await run(t, does), { code: 1, end }));
});
