/** `npm run deploy` and `npm run destroy` refuse, in one line, what must not reach the CDK. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'vitest';

const command = fileURLToPath(new URL('../../infra/commands/main.ts', import.meta.url));

for (const [args, line] of [
  [['deploy'], /^The stage dev still has the example's base URL.*stages\.ts\.\n$/],
  [['deploy', 'prod', '--require-approval', 'never'], /^The stage prod still has the example's base URL/],
  [['deploy', 'nosuch'], /^stage must be one of dev, prod.*"nosuch"\.\n$/],
  [['destroy', 'nosuch'], /^stage must be one of dev, prod/],
  [['destory'], /^The commands are deploy, destroy, /],
] as const)
  test(`${args.join(' ')} is refused in one line`, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', command, ...args], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, line);
    assert.equal(stderr.split('\n').length, 2);
  });
