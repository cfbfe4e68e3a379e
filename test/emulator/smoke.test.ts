/** `countersign smoke` against a right deployment and four wrong ones: five different, correct diagnoses. */

import assert from 'node:assert/strict';
import { CloudWatchClient, PutCompositeAlarmCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { StatusReport } from '../../infra/commands/status.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { runCountersign } from '../support/process.ts';
import { clientConfig, commandEnvironment } from './deployment.ts';
import { putSecret } from './secret.ts';
import { canary, type Stage, snapshots, stageName, startStage } from './stage.ts';

describe('the operator’s commands on a deployment', needsEmulator(), () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage();
  });
  afterAll(() => stage?.stop());

  const smoke = (apiKey: string, url = stage.url) => run('smoke', [url], { API_KEY: apiKey });
  const secretSet = (input: string, ...args: string[]) =>
    run('secret', ['--stack', `Countersign-${args[0]}`], commandEnvironment(stage.emulator), input);
  const secretText = JSON.stringify({ app_key: canary.appKey, app_secret: canary.appSecret });

  test('a missing secret', async () => {
    const { code, output } = await smoke(stage.apiKey);
    assert.equal(code, 1);
    assert.match(output, /secret is empty.*countersign secret.*secret_not_set/s);
  });

  test('secret takes a secret from standard input and repeats nothing of it', async () => {
    const { code, output } = await secretSet(secretText, stageName);
    assert.equal(code, 0, output);
    for (const secret of Object.values(canary)) assert.ok(!output.includes(secret));
  });

  test('secret refuses what the gateway could not use, and a stack that is not there', async () => {
    for (const wrong of ['', 'canary-app-secret-9c27', '{"app_key":"canary-app-key-5f1d"}']) {
      const { code, output } = await secretSet(wrong, stageName);
      assert.equal(code, 1);
      assert.match(output, /nothing was changed/);
      assert.ok(!output.includes('canary'));
    }
    const { code, output } = await secretSet(secretText, 'nosuch');
    assert.equal(code, 1);
    assert.match(output, /Countersign-nosuch/);
    assert.ok(!output.includes(canary.appSecret));
  });

  test('preflight reads an account’s figures from the emulator, too', async () => {
    const { code, output } = await run('preflight', [], commandEnvironment(stage.emulator));
    assert.equal(code, 0, output);
    assert.match(output, /carries about 20 phones .*bound by the usage plan default/);
  });

  test('status says which version it is, what rings and what to run, and ends with a code for each', async () => {
    const status = (...more: string[]) =>
      run('status', ['--stack', `Countersign-${stageName}`, ...more], commandEnvironment(stage.emulator));
    const quiet = await status();
    assert.equal(quiet.code, 0, quiet.output);
    assert.match(
      quiet.output,
      /, version \d+\.\d+\.\d+\nNo alarm of \d+ rings\.\n.* keeps upstream\.limits as configured/,
    );
    const cloudWatch = new CloudWatchClient(clientConfig(stage.emulator));
    const nameOf = (name: string) => `Countersign-${stageName}-${name}`;
    const AlarmRule = `ALARM("${nameOf('quotes-stale')}")`;
    await cloudWatch.send(new PutCompositeAlarmCommand({ AlarmName: nameOf('of-the-desk'), AlarmRule }));
    for (const AlarmName of [nameOf('quotes-stale'), nameOf('of-the-desk')])
      await cloudWatch.send(
        new SetAlarmStateCommand({ AlarmName, StateValue: 'ALARM', StateReason: 'drill' }),
      );
    const raised = await status('--json');
    assert.equal(raised.code, 1, raised.output);
    const { alarms, disabledSchedules, unread } = JSON.parse(raised.output) as StatusReport;
    assert.deepEqual([disabledSchedules, unread], [[], []]);
    assert.deepEqual(
      alarms?.filter(({ state }) => state === 'ALARM').map(({ name }) => name),
      ['quotes-stale', 'of-the-desk'],
    );
  });

  test('a right deployment', async () => {
    // A machine that is busy may take longer to start the function than the upstream's answer may take.
    while ((await stage.call(snapshots)).status !== 200)
      await new Promise((resolve) => setTimeout(resolve, 500));
    const { code, output } = await smoke(stage.apiKey);
    assert.equal(code, 0, output);
    assert.match(output, /All is well/);
  });

  test('a wrong key', async () => {
    const { code, output } = await smoke('not-the-key-of-this-stage');
    assert.equal(code, 1);
    assert.match(output, /API key is wrong.*missing_api_key/s);
  });

  test('an upstream that is down', async () => {
    await stage.simulator.close();
    const { code, output } = await smoke(stage.apiKey);
    assert.equal(code, 1);
    assert.match(output, /known \d+ s ago: the upstream gives nothing newer now\. Nothing listens at/);
  });

  test('nothing at the URL', async () => {
    const { code, output } = await smoke(stage.apiKey, 'http://127.0.0.1:9');
    assert.equal(code, 1);
    assert.match(output, /Nothing answers/);
  });

  test('wrong arguments are one line each', async () => {
    assert.deepEqual(await run('smoke', [], {}), {
      code: 2,
      output: '<url> is missing. countersign smoke --help says more.\n',
    });
    assert.match((await smoke('')).output, /^API_KEY is not set.*\n$/);
  });
});

describe('a wrong secret on a deployment', needsEmulator(), () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage();
    await putSecret(stage, { ...canary, appSecret: 'not-the-secret' });
  });
  afterAll(() => stage?.stop());

  test('is told apart from a missing one', async () => {
    const { code, output } = await run('smoke', [stage.url], { API_KEY: stage.apiKey });
    assert.equal(code, 1);
    assert.match(output, /app secret is wrong.*upstream_auth_failed/s);
  });
});

const run = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
) => runCountersign([command, ...args], { HOME: process.env.HOME, ...env }, input);
