/** `countersign limits`: which limits are in force, and how an operator ends the tighter ones. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { limitsCommand } from '../../infra/commands/limits.ts';
import { StartError } from '../../infra/environment.ts';
import { type StackStubOptions, startStackStub } from './stack-stub.ts';

const look = { target: { stackName: 'Countersign-test', options: '' }, reset: false };
const reset = { ...look, reset: true };

async function stubFor(t: TestContext, options: StackStubOptions) {
  const stub = await startStackStub(t, options);
  const before = { ...process.env };
  Object.assign(process.env, stub.env);
  t.onTestFinished(() => {
    for (const name of Object.keys(stub.env)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  return stub;
}

test('the configured ones: a sentence, and nothing to end', async (t) => {
  const { deleted } = await stubFor(t, {});
  const sentence = 'Countersign-test keeps upstream.limits as configured: interface.';
  assert.deepEqual((await limitsCommand(look)).lines, [sentence]);
  assert.deepEqual((await limitsCommand(reset)).lines, [sentence]);
  assert.deepEqual(deleted, []);
});

test('tighter ones: which, since when, and what ends them; reset ends them', async (t) => {
  const { deleted } = await stubFor(t, { steps: 2 });
  assert.deepEqual((await limitsCommand(look)).data, {
    stack: 'Countersign-test',
    configured: 'interface',
    kept: 'published-sandbox',
    since: '2026-11-18T11:06:40.000Z',
  });
  assert.match(
    (await limitsCommand(look)).lines.join(),
    /^Countersign-test keeps published-sandbox since 2026-11-\d\dT\S+, because .* although interface allowed the request\. To keep these limits, .* end them with --reset\.$/,
  );
  assert.deepEqual(deleted, []);
  assert.match(
    (await limitsCommand(reset)).lines.join(),
    /kept published-sandbox; within half a minute .* interface again/,
  );
  assert.deepEqual(deleted, [{ TableName: 'limiter', Key: { pk: { S: 'countersign.limits#interface' } } }]);
  assert.match((await limitsCommand(look)).lines.join(), /as configured: interface\.$/);
});

test('what cannot be done is one line', async (t) => {
  await stubFor(t, { steps: 1, denied: ['DeleteItem'] });
  await assert.rejects(limitsCommand(reset), (error) => {
    assert.ok(error instanceof StartError);
    assert.equal(error.message, 'The table of Countersign-test cannot be used: AccessDeniedException.');
    return true;
  });
});
