/** `.ci/run` with stand-ins for all that it starts: its end names what failed and what was skipped, and counts both. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { root } from '../support/bundle.ts';

/** What a stand-in does, in place of one that tells of a good run: a line of shell. */
interface Does {
  readonly setup?: string;
  readonly test?: string;
  readonly exhaustive?: string;
  /** Likewise, where `$node` is the version that is installed as the newest: `locked` or `latest`. */
  readonly newest?: string;
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
  const newestNode = join(folder, 'test/runtimes/node_modules/newest/bin');
  for (const one of [join(folder, '.ci'), join(folder, 'bin'), newestNode])
    mkdirSync(one, { recursive: true });
  copyFileSync(join(root, '.ci/run'), join(folder, '.ci/run'));
  const { setup = ':', study = ':', ceilings = ':', ...tests } = does;
  const { test = "echo '5 passed, 0 failed'", exhaustive = "echo '7 passed, 0 failed'" } = tests;
  const { newest = "echo '2 passed, 0 failed'" } = tests;
  const npm = `cd '${newestNode}'; node=$(cat version); case "$*" in ci) ;; 'run test:setup') ${setup} ;;
    'run test') ${test} ;; 'run test:exhaustive') ${exhaustive} ;; 'run study '*) ${study} ;;
    'run test:node -- oldest') echo '1 passed, 0 failed'; echo '2 passed, 0 failed' ;; 'run test:node -- newest') ${newest} ;;
    'ci --prefix test/runtimes') echo locked >version ;;
    'install --prefix test/runtimes --no-save newest@npm:node@latest') echo latest >version ;; *) exit 9 ;; esac`;
  const node = `echo times; ${ceilings}`;
  for (const [path, text] of [
    [join(folder, 'bin/npm'), npm],
    [join(folder, 'bin/node'), node],
    [join(newestNode, 'node'), `cat '${newestNode}/version'`],
  ] as const)
    writeFileSync(path, `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  writeFileSync(join(newestNode, 'version'), 'locked');
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  return new Promise((resolve) =>
    execFile('bash', [join(folder, '.ci/run')], { env }, (error, stdout) => {
      const lines = stdout.trim().split('\n');
      resolve({ code: Number(error?.code ?? 0), end: lines.slice(lines.indexOf('times') + 1) });
    }),
  );
}

const latestFailed =
  '- not counted: Node latest failed; Node locked of test/runtimes/package-lock.json was run in its place';

describe('a run of CI', { concurrent: true }, () => {
  test('that is good ends in what passed', async (t) =>
    assert.deepEqual(await run(t, {}), { code: 0, end: ['17 passed, 0 failed'] }));

  test('in a clone without its history names what needs it, and is good', async (t) => {
    const exhaustive =
      "echo '- skipped: no history: git fetch --unshallow'; echo '6 passed, 0 failed, 1 skipped'";
    const end = ['- skipped: no history: git fetch --unshallow', '16 passed, 0 failed, 1 skipped'];
    assert.deepEqual(await run(t, { exhaustive }), { code: 0, end });
  });

  test('takes the locked Node where a newer one fails, says so, and is good', async (t) => {
    const newest = `if [[ $node == latest ]]; then echo '- failed: b: why'; exit 1; fi; echo '2 passed, 0 failed'`;
    assert.deepEqual(await run(t, { newest }), { code: 0, end: [latestFailed, '17 passed, 0 failed'] });
  });

  for (const [what, does, ...end] of [
    [
      'a failed test',
      { test: "echo '- failed: a > b: why'; echo '4 passed, 1 failed'; exit 1" },
      '- failed: a > b: why',
      '16 passed, 1 failed',
    ],
    [
      'skipped tests',
      { exhaustive: "echo '- skipped: no engine'; echo '6 passed, 0 failed, 2 skipped'" },
      '- skipped: no engine',
      '- failed: CI skips nothing else',
      '16 passed, 1 failed, 2 skipped',
    ],
    ['the study', { study: 'exit 1' }, '- failed: npm run study -- limiter 262500 6', '17 passed, 1 failed'],
    [
      'a ceiling',
      { ceilings: "echo '- failed: minutes grew'; exit 1" },
      '- failed: minutes grew',
      '17 passed, 1 failed',
    ],
    [
      'what an installation lacks, by a test that needs it,',
      { setup: 'exit 1', test: "echo '- failed: a: no spin'; echo '4 passed, 1 failed'; exit 1" },
      '- failed: a: no spin',
      '16 passed, 1 failed',
    ],
    [
      'a run that breaks off',
      { test: "echo '- failed: a > b: why'; exit 1" },
      '- failed: a > b: why',
      '- failed: npm run test',
      '12 passed, 1 failed',
    ],
    [
      'what fails on the newest Node and on the locked one',
      { newest: "echo '- failed: b: why'; echo '1 passed, 1 failed'; exit 1" },
      '- failed: b: why',
      latestFailed,
      '16 passed, 1 failed',
    ],
    ['a run without tests', { test: 'exit 2' }, '- failed: npm run test', '12 passed, 1 failed'],
    [
      'a run that fails after its tests',
      { exhaustive: "echo '7 passed, 0 failed'; exit 1" },
      '- failed: npm run test:exhaustive',
      '17 passed, 1 failed',
    ],
  ] as const satisfies readonly (readonly [string, Does, ...string[]])[])
    test(`names ${what} at its end, and counts it`, async (t) =>
      assert.deepEqual(await run(t, does), { code: 1, end }));
});
