/** `test/setup.sh` on a machine of stand-ins: what fails keeps nothing else away, and the end says how to get it. */

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';

/** What the script itself is written with. */
const plain = ['bash', 'cp', 'dirname', 'mkdir', 'mktemp', 'rm', 'sort'];
const tools = ['chromium', 'curl', 'go', 'java', 'mvn', 'npm', 'python3'];

interface Machine {
  readonly lacks?: readonly string[];
  /** Those of its commands that fail, as a pattern of the shell. */
  readonly fails?: string;
}

async function setUp(t: TestContext, { lacks = [], fails = '' }: Machine) {
  const folder = mkdtempSync(join(tmpdir(), 'setup-'));
  t.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const one of ['bin', 'test']) mkdirSync(join(folder, one));
  copyFileSync(join(import.meta.dirname, '../setup.sh'), join(folder, 'test/setup.sh'));
  for (const one of plain)
    symlinkSync(execFileSync('which', [one], { encoding: 'utf8' }).trim(), join(folder, 'bin', one));
  const calls = join(folder, 'calls');
  // An environment of Python has a `pip` of its own.
  const text = `#!/bin/bash
    said="\${0##*/} $*"
    echo "$said" >>'${calls}'
    if [[ $said == *rev-parse* ]]; then echo true; fi
    if [[ $said == 'python3 -m venv'* ]]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/pip"; fi
    [[ $said != @(${fails}) ]]`;
  for (const one of [...tools, 'apt-get', 'git'])
    if (!lacks.includes(one)) writeFileSync(join(folder, 'bin', one), text, { mode: 0o755 });
  const env = { PATH: join(folder, 'bin') };
  const [code, said] = await new Promise<[number, string]>((resolve) =>
    execFile('/bin/bash', [join(folder, 'test/setup.sh')], { env }, (error, stdout) =>
      resolve([Number(error?.code ?? 0), stdout.trim()]),
    ),
  );
  return { code, said: said.split('\n'), calls: readFileSync(calls, 'utf8') };
}

const folders = { npm: ['lambda', 'runtimes', 'types', 'clients'], pip: ['emulator', 'schemathesis'] };

describe('the script that installs what tests need', { concurrent: true }, () => {
  test('installs packages and the history, and nothing that the machine has', async (t) => {
    const { code, said, calls } = await setUp(t, {});
    assert.deepEqual([code, said], [0, ['']]);
    for (const one of folders.npm) assert.ok(calls.includes(`npm ci --prefix test/${one}\n`), calls);
    for (const one of folders.pip)
      assert.ok(calls.includes(`--requirement test/${one}/requirements.txt\n`), calls);
    assert.match(calls, /^git fetch .*--unshallow$/m);
    assert.doesNotMatch(calls, /apt-get/);
  });

  test('installs tools that the machine lacks', async (t) => {
    const { calls } = await setUp(t, { lacks: ['mvn', 'chromium'] });
    for (const one of ['maven', 'chromium-headless-shell'])
      assert.match(calls, new RegExp(`^apt-get install .* ${one}$`, 'm'));
  });

  test('goes on without Python and a mirror, and says in the end how to get what is missing', async (t) => {
    const { code, said, calls } = await setUp(t, {
      lacks: ['python3', 'go'],
      fails: 'apt-get*|npm*types',
    });
    for (const one of folders.npm) assert.ok(calls.includes(`npm ci --prefix test/${one}\n`), calls);
    assert.match(calls, /^mvn /m);
    assert.match(said[0] ?? '', /^Not installed/);
    for (const one of [
      'apt-get install python3 python3-venv',
      'Go: https://go.dev/dl',
      'npm ci --prefix test/types',
    ])
      assert.ok(said.includes(`- ${one}`), said.join('\n'));
    assert.equal(code, 1);
  });
});
