/** Signer, verifier, access tokens and explanation in every runtime: one bundle of one table, and a runner for each. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, test } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { orSkip } from '../support/missing.ts';
import { install, runtimes } from './capabilities.ts';
import { count, run } from './table.ts';

const here = import.meta.dirname;
const execute = promisify(execFile);
// A runtime below gets no options of this Node.
const { NODE_OPTIONS: _, ...environment } = process.env;
const options = { cwd: here, env: { ...environment, NO_COLOR: '1' }, timeout: 60_000 };

beforeAll(async () => {
  const { text } = await bundle("export { count, run } from './test/runtimes/table.ts'");
  const table = join(here, '.build/table.mjs');
  await mkdir(dirname(table), { recursive: true });
  await writeFile(table, text);
});

test('the table holds, unbundled', async () => {
  assert.ok(count > 100);
  assert.deepEqual(await run(), []);
});

for (const { name, binary, version, args } of runtimes) {
  const missing = existsSync(binary) ? undefined : `${name} is missing: ${install}`;
  test(`${name} runs the table`, orSkip(missing), async () => {
    assert.match((await execute(binary, ['--version'], options)).stdout, version);
    const { stdout, stderr } = await execute(binary, args, options);
    assert.match(stdout + stderr, new RegExp(`\\b${count} checks passed`));
  });
}
