/** What `countersign secret` says when it cannot do it: one line, without the secret. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { runCountersign } from '../../support/process.ts';
import { startStackStub } from '../stack-stub.ts';

const secret = { app_key: 'canary-key', app_secret: 'canary-secret' };

const secretSet = (env: Readonly<Record<string, string>>, given: object = secret) =>
  runCountersign(['secret', '--stack', 'Countersign-test'], env, JSON.stringify(given));

test('a secret that may not be written or read is one line with the error’s name', async (t) => {
  const written = await startStackStub(t, { denied: ['PutSecretValue'] });
  for (const given of [secret, { ...secret, access_token: '' }])
    assert.deepEqual(await secretSet(written.env, given), {
      code: 1,
      output: 'The secret of Countersign-test cannot be written: AccessDeniedException.\n',
    });
  const read = await startStackStub(t, { denied: ['GetSecretValue'] });
  const { code, output } = await secretSet(read.env);
  assert.equal(code, 1);
  assert.match(
    output,
    /^The secret of Countersign-test cannot be read: AccessDenied.* "" for none, it is not\.\n$/,
  );
  assert.equal(read.current, undefined);
  // Without a right that the command did not need before.
  assert.equal((await secretSet(read.env, { ...secret, access_token: '' })).code, 0);
  assert.deepEqual(JSON.parse(read.current ?? ''), { ...secret, access_token: '' });
});

test('an access token stays while the JSON has none; given, emptied or of another app key it does not', async (t) => {
  const before = { app_key: secret.app_key, app_secret: 'older', access_token: 'canary-token' };
  const set =
    'The secret of Countersign-test is set; functions use it within five minutes, or at once when the upstream refuses the one before.';
  for (const [given, stored, words] of [
    [secret, { ...secret, access_token: 'canary-token' }, ' Its access token stays;'],
    [{ ...secret, access_token: 'another' }, { ...secret, access_token: 'another' }, '\n'],
    [{ ...secret, access_token: '' }, { ...secret, access_token: '' }, '\n'],
    [
      { ...secret, app_key: 'other-key' },
      { ...secret, app_key: 'other-key' },
      ' Its access token was of another',
    ],
  ] as const) {
    const stub = await startStackStub(t, { secret: JSON.stringify(before) });
    const { code, output } = await secretSet(stub.env, given);
    assert.equal(code, 0, output);
    assert.ok(output.startsWith(set + words), output);
    assert.ok(!output.includes('canary'), output);
    assert.deepEqual(JSON.parse(stub.current ?? ''), stored);
    assert.equal(stub.previous, JSON.stringify(before));
  }
});

test('a token that is stored meanwhile stays, too', async (t) => {
  const stub = await startStackStub(t, { secret: JSON.stringify(secret) });
  let times = 0;
  stub.beforeMove = () => {
    if (times++ === 0) stub.set(JSON.stringify({ ...secret, access_token: 'canary-token' }));
  };
  const next = { ...secret, app_secret: 'next' };
  const { code, output } = await secretSet(stub.env, next);
  assert.equal(code, 0, output);
  assert.deepEqual(JSON.parse(stub.current ?? ''), { ...next, access_token: 'canary-token' });
});

test('into a secret that was never set', async (t) => {
  const stub = await startStackStub(t);
  assert.equal((await secretSet(stub.env)).code, 0);
  assert.equal(stub.current, JSON.stringify(secret));
});
