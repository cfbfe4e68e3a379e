/** `countersign deploy` refuses, in one line, what must not reach the CDK. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'vitest';
import { launcher } from '../support/process.ts';

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
    });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, line);
    assert.equal(stderr.split('\n').length, 2);
  });
