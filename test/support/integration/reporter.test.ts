/** The last line of a run, by runs of their own on files made for it. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { root } from '../bundle.ts';

interface Ran {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Below this folder, for there `vitest` is found. */
const build = join(import.meta.dirname, '../.build');

function run(t: TestContext, files: Readonly<Record<string, string>>): Promise<Ran> {
  mkdirSync(build, { recursive: true });
  const folder = mkdtempSync(join(build, 'reporter-'));
  t.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files))
    writeFileSync(
      join(folder, `${name}.test.js`),
      `import { beforeAll, describe, test } from 'vitest';\n${text}`,
    );
  // Without one of its own it would take that of a folder above.
  writeFileSync(join(folder, 'vitest.config.js'), 'export default {}');
  const args = ['run', '--root', folder, '--reporter', join(import.meta.dirname, '../reporter.ts')];
  const { VITEST: _, VITEST_WORKER_ID: __, ...env } = process.env;
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), ...args],
      { env, cwd: folder },
      (error, stdout) =>
        resolve({ code: Number(error?.code ?? 0), lines: stdout.trim().split('\n').filter(Boolean) }),
    ),
  );
}

describe('a run', { concurrent: true }, () => {
  test('only leaves count, and a parent that fails by itself', async (t) => {
    const { code, lines } = await run(t, {
      mixed: `describe('parent', () => { test('a', () => {}); test('b', () => { throw new Error('why'); }); });
        test('c', () => {});`,
      hook: `describe('parent', () => { beforeAll(() => { throw new Error('x'); }); test('d', () => {}); });`,
    });
    assert.deepEqual(lines.slice(-3), [
      '- failed: hook.test.js > parent: x',
      '- failed: mixed.test.js > parent > b: why',
      '2 passed, 2 failed, 1 skipped',
    ]);
    assert.equal(code, 1);
  });

  test('a skipped test is told, and a run of only such ones is no failure', async (t) => {
    const { code, lines } = await run(t, {
      skipped: `test('a', { skip: true, meta: { missing: 'no engine' } }, () => {});`,
    });
    assert.deepEqual(lines.slice(-3), [
      '- skipped: no engine',
      'npm run test:setup installs what it can of it, and says how to get the rest.',
      '0 passed, 0 failed, 1 skipped',
    ]);
    assert.equal(code, 0);
  });

  test('a skipped suite is told as a skipped test is, and the same reason only once', async (t) => {
    const { code, lines } = await run(t, {
      skipped: `const needs = { skip: true, meta: { missing: 'no emulator' } };
        describe('a', needs, () => { test('x', () => {}); test('y', () => {}); });
        test('b', needs, () => {});
        describe('c', () => { test.skip('z', () => {}); });`,
    });
    assert.deepEqual(
      lines.filter((line) => line.startsWith('- skipped')),
      ['- skipped: no emulator', '- skipped: c > z'],
    );
    assert.equal(lines.at(-1), '0 passed, 0 failed, 4 skipped');
    assert.equal(code, 0);
  });

  test('a test that is skipped for no reason is told, without a word on what would install one', async (t) => {
    const { lines } = await run(t, { skipped: `test.skip('z', () => {}); test('a', () => {});` });
    assert.deepEqual(lines.slice(-2), ['- skipped: z', '1 passed, 0 failed, 1 skipped']);
  });

  test('a file without a test fails', async (t) => {
    const { code, lines } = await run(t, { empty: '', fine: `test('a', () => {});` });
    assert.equal(lines.at(-1), '1 passed, 1 failed');
    assert.equal(code, 1);
  });

  test('no test at all is a failure', async (t) => {
    const { code, lines } = await run(t, {});
    assert.equal(lines.at(-1), '0 passed, 1 failed');
    assert.equal(code, 1);
  });

  test('an unhandled error is a failure', async (t) => {
    const { code, lines } = await run(t, {
      late: `test('a', async () => { void Promise.reject(new Error('x')); });`,
    });
    assert.deepEqual(lines.slice(-2), ['- failed: outside a test: x', '1 passed, 1 failed']);
    assert.equal(code, 1);
  });
});
