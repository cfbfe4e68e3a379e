/** The scheduled check of the access token, against the simulator on a virtual clock and a stand-in for Secrets Manager. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { secretPorts } from '../../functions/aws/ports.ts';
import { start, tokenCheck } from '../../functions/compose/functions.ts';
import type { Host } from '../../functions/compose/ports.ts';
import type { Log, LogEntry } from '../../functions/log/log.ts';
import type { Environment } from '../../functions/settings/parts.ts';
import { type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import { createTokenCalls } from '../../lib/access-token/calls.ts';
import { noEndDays } from '../../lib/access-token/check.ts';
import { toCredential } from '../../lib/gateway/credential.ts';
import { hostWith } from '../support/deployed.ts';
import { each } from '../support/each.ts';
import { part } from '../support/parts.ts';
import { useCalmTime } from '../world/test-time.ts';
import { awsEnvironment, startSecretsManagerStub } from './secrets-manager-stub.ts';

useCalmTime();

const credentials = { appKey: 'canary-app-key-02be', appSecret: 'canary-app-secret-8d10' };
const day = 86_400_000;

const deployedTokenCheck = (env: Environment, log: Log, change: Partial<Host> = {}) =>
  start(tokenCheck, env, secretPorts(hostWith(log, change)));

async function worldFor(t: TestContext, options: Partial<SimulatorOptions> = {}) {
  const time = { now: Date.UTC(2026, 10, 22) };
  const clock = () => time.now;
  const simulator = await startSimulator({
    ...credentials,
    accessToken: 'canary-standing-token',
    tokenApprovalMs: 60_000,
    clock,
    ...options,
  });
  const stub = await startSecretsManagerStub();
  t.onTestFinished(async () => void (await Promise.all([simulator.close(), stub.close()])));
  for (const [name, value] of Object.entries({ ...awsEnvironment, AWS_ENDPOINT_URL: stub.url }))
    process.env[name] = value;
  t.onTestFinished(() => void delete process.env.AWS_ENDPOINT_URL);

  const signing = toCredential(secretWith(undefined), { clock });
  assert.ok(signing.ok);
  const { token } = await createTokenCalls({
    baseUrl: simulator.url,
    credential: signing.credential,
  }).create();
  const logged: LogEntry[] = [];
  const env = part('UPSTREAM', { baseUrl: simulator.url, secretId: stub.secretId });
  // As Lambda sets it.
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'check';
  t.onTestFinished(() => void delete process.env.AWS_LAMBDA_FUNCTION_NAME);
  const handler = deployedTokenCheck(env, (entry) => logged.push(entry), { clock });
  const check = async () => {
    const before = simulator.received.length;
    let report: unknown;
    try {
      report = await handler();
    } catch (error) {
      report = (error as Error).message;
    }
    const text = JSON.stringify([report, logged]);
    for (const secret of [...Object.values(credentials), token, 'canary-standing-token'])
      assert.ok(!text.includes(secret), text);
    return { report, calls: simulator.received.slice(before).map(({ target }) => target) };
  };
  return { simulator, stub, time, token, logged, check, put: (text: string) => stub.set(text) };
}

const secretWith = (access_token: string | undefined) =>
  JSON.stringify({ app_key: credentials.appKey, app_secret: credentials.appSecret, access_token });

const standing = ['/openapi/config', '/auth/tokens/check'];
const using = [...standing, '/trading/accounts/list', '/auth/tokens/check'];

test('where the upstream wants no token, there is nothing to look after', async (t) => {
  const plain = await startSimulator({ ...credentials, clock: () => Date.UTC(2026, 10, 22) });
  t.onTestFinished(() => plain.close());
  const { stub, logged } = await worldFor(t);
  stub.set(secretWith(undefined));
  const env = part('UPSTREAM', { baseUrl: plain.url, secretId: stub.secretId });
  const handler = deployedTokenCheck(env, (entry) => logged.push(entry), {
    clock: () => Date.UTC(2026, 10, 22),
  });
  assert.deepEqual(await handler(), { result: 'not_needed' });
  assert.deepEqual(each(logged, 'level', 'event', 'result', 'TokenDaysLeft'), [
    ['info', 'access_token', 'not_needed', noEndDays],
  ]);
});

test('pending, normal, used after five idle days so that it lives on, and expired after fifteen', async (t) => {
  const { check, put, time, token, logged } = await worldFor(t);
  put(secretWith(token));
  assert.deepEqual((await check()).report, { result: 'pending', daysLeft: 0 });
  time.now += 60_000;
  assert.deepEqual(await check(), { report: { result: 'normal', daysLeft: 14.9 }, calls: standing });
  time.now += 5 * day;
  assert.deepEqual(await check(), {
    report: { result: 'normal', daysLeft: 15, prolonged: true },
    calls: using,
  });
  time.now += 15 * day;
  assert.deepEqual(await check(), { report: { result: 'expired', daysLeft: 0 }, calls: standing });
  assert.deepEqual(each(logged, 'level', 'event', 'TokenDaysLeft'), [
    ['error', 'access_token', 0],
    ['info', 'access_token', 14.9],
    ['info', 'access_token', 15],
    ['error', 'access_token', 0],
  ]);
  const { _aws, Function: name } = logged[1] as unknown as {
    _aws: { CloudWatchMetrics: object[] };
    Function: string;
  };
  assert.equal(name, 'check');
  assert.deepEqual(_aws.CloudWatchMetrics, [
    {
      Namespace: 'Countersign',
      Dimensions: [['Function']],
      Metrics: [{ Name: 'TokenDaysLeft', Unit: 'Count' }],
    },
  ]);
});

test('where use prolongs nothing, the days run down', async (t) => {
  const { check, put, time, token } = await worldFor(t, { tokenUseProlongs: false });
  put(secretWith(token));
  const days: unknown[] = [];
  for (let at = 0; at <= 15; at += 3) {
    time.now = Date.UTC(2026, 10, 22) + at * day + 3_600_000;
    days.push((await check()).report);
  }
  assert.deepEqual(days, [
    { result: 'normal', daysLeft: 14.9 },
    { result: 'normal', daysLeft: 11.9 },
    { result: 'normal', daysLeft: 8.9, prolonged: false },
    { result: 'normal', daysLeft: 5.9, prolonged: false },
    { result: 'normal', daysLeft: 2.9, prolonged: false },
    { result: 'expired', daysLeft: 0 },
  ]);
});

test('no token, one that nobody knows and one of no form are alarms; a token that is put in its place is seen', async (t) => {
  const { check, put, time, token } = await worldFor(t);
  time.now += 60_000;
  put(secretWith(undefined));
  assert.deepEqual((await check()).report, { result: 'missing', daysLeft: 0 });
  for (const unknown of ['f'.repeat(32), 'of-no-form']) {
    put(secretWith(unknown));
    assert.deepEqual((await check()).report, { result: 'invalid', daysLeft: 0 });
  }
  put(secretWith(token));
  assert.deepEqual((await check()).report, { result: 'normal', daysLeft: 14.9 });
});

test('what cannot be found out is an error of the function, with its reason in the log and no metric', async (t) => {
  const { check, put, stub, simulator, logged, token } = await worldFor(t);
  const reasons: unknown[] = [];
  const failing = async () => {
    assert.match(String((await check()).report), /^The access token could not be checked/);
    const last = logged.at(-1);
    reasons.push([last?.event, last?.reason]);
    assert.ok(!('_aws' in (last ?? {})));
  };
  await failing();
  stub.setFault('denied');
  await failing();
  stub.setFault(undefined);
  put(secretWith(token));
  simulator.setCredentials([{ ...credentials, appSecret: 'another' }]);
  await failing();
  await simulator.close();
  await failing();
  assert.deepEqual(reasons, [
    ['token_not_checked', 'secret_not_set'],
    ['token_not_checked', 'secret_unavailable'],
    ['token_not_checked', 'getConfig was refused: 401 INCORRECT_SIGN'],
    ['token_not_checked', 'getConfig failed: unreachable'],
  ]);
  const wrong: LogEntry[] = [];
  await assert.rejects(deployedTokenCheck({}, (entry) => wrong.push(entry))(), /could not be checked/);
  assert.equal(wrong[0]?.event, 'wrong_configuration');
});
