/** `countersign deploy` refuses, in one line, what must not reach the CDK. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { judged, launcher, sourceLauncher } from '../../support/process.ts';
import { given, refused } from '../given.ts';

for (const [args, line] of [
  [['deploy'], /^The stage dev still has the example's base URL.*stages\.ts\.\n$/],
  [
    ['deploy', '--stage', 'prod', '--', '--require-approval', 'never'],
    /^The stage prod still has the example's base URL/,
  ],
] as const)
  test(`${args.join(' ')} is refused in one line`, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...args], {
      encoding: 'utf8',
      env: judged,
    });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, line);
    assert.equal(stderr.split('\n').length, 2);
  });

test('the CDK runs in the folder of the clone alone: elsewhere its app would read other stages', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-stage-'));
  t.onTestFinished(() => rmSync(folder, { recursive: true }));
  const prod = { upstream: { baseUrl: 'https://upstream.example', limits: 'interface' } };
  writeFileSync(join(folder, 'countersign.json'), JSON.stringify({ prod }));
  const { status, stderr } = spawnSync(process.execPath, [sourceLauncher, 'deploy', '--stage', 'prod'], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...judged,
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  });
  assert.equal(status, 1);
  assert.match(stderr, /^countersign deploy runs in the folder of the clone, .*\n$/);
});

test('a stage without --stage is refused, and not handed to the CDK beside another stage', async () => {
  for (const verb of ['deploy', 'diff', 'destroy']) {
    await refused(
      `${verb} prod`,
      'Options follow the command, and nothing besides: a stage is --stage NAME.',
    );
    await refused(`${verb} prod --stage dev`, /^Options follow the command/);
    const { options } = await given<{ readonly options: readonly string[] }>(
      `${verb} --stage prod -- --force`,
    );
    assert.deepEqual(options, ['--force']);
  }
});
