/**
 * `countersign prove` from its question to its report: everything but the CDK's own program, in whose place the template
 * is deployed into the emulator; and days on which something goes wrong, after which nothing is left that is not named.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormationClient, DeleteStackCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import {
  CloudWatchLogsClient,
  CreateLogStreamCommand,
  PutLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { prove } from '../../infra/commands/prove.ts';
import { writeReport } from '../../infra/commands/prove-command.ts';
import type { ProvePorts } from '../../infra/commands/prove-day.ts';
import { type Deployed, deployedOf, stackStatus } from '../../infra/commands/prove-measure.ts';
import { isProven, type ProofReport } from '../../infra/commands/prove-report.ts';
import { outputsOf } from '../../infra/commands/stack-secret.ts';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import type { CountersignConfig } from '../../infra/stack/config.ts';
import { configOf } from '../../infra/stack/stages.ts';
import { accountId } from '../support/core.ts';
import { type Ministack, startMinistack } from '../support/ministack.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { completeImport } from './complete-import.ts';
import { commandEnvironment, deploy } from './deployment.ts';
import { canary } from './stage.ts';
import { synthesised } from './synthesis.ts';

const stackName = 'Countersign-prove';

describe('a first day', needsEmulator(), () => {
  const home = mkdtempSync(join(tmpdir(), 'countersign-prove-'));
  const before = { cwd: process.cwd(), env: { ...process.env } };
  let simulator: Simulator;
  let emulator: Ministack;
  let config: CountersignConfig;

  beforeAll(async () => {
    simulator = await startSimulator({ ...canary, upstreamLimits: 'published-sandbox' });
    // The stage of that name as it is, but for its upstream.
    const own = configOf('prove');
    config = { ...own, upstream: { ...own.upstream, baseUrl: simulator.url, allowLoopback: true } };
    emulator = await startMinistack();
    Object.assign(process.env, commandEnvironment(emulator));
    process.chdir(home);
    writeFileSync('countersign.json', JSON.stringify({ prove: config }));
  });
  afterAll(async () => {
    process.chdir(before.cwd);
    process.env = before.env;
    await emulator?.stop();
    await simulator?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const deleteStack = async () => {
    await new CloudFormationClient().send(new DeleteStackCommand({ StackName: stackName }));
    while ((await stackStatus(stackName)) !== undefined) await shortly();
  };

  /** As the command has them, but for the CDK's program and the address that the emulator gives an API. */
  function portsOf(more: Partial<ProvePorts> = {}): ProvePorts {
    return {
      async deploy() {
        const assembly = await synthesised(home, stackName, config);
        const outputs = await deploy(emulator, assembly);
        const template = readFileSync(join(assembly.directory, `${stackName}.template.json`), 'utf8');
        const restApiId = idIn(outputs.ApiUrl);
        await completeImport(emulator, { restApiId, stageName: 'v1', body: bodyOf(template) });
        await asAws(await deployedOf(stackName));
      },
      destroy: deleteStack,
      async outputs() {
        const outputs = new Map(await outputsOf(stackName));
        const restApiId = idIn(outputs.get('ApiUrl'));
        return outputs.set('ApiUrl', `${emulator.endpoint}/restapis/${restApiId}/v1/_user_request_`);
      },
      confirm: async () => true,
      say: () => {},
      clock: Date.now,
      pause: shortly,
      ...more,
    };
  }

  const options = (more: object = {}) => ({
    stage: 'prove',
    config,
    isSandbox: true,
    keep: false,
    ...canary,
    accessToken: undefined,
    ...more,
  });
  const resultOf = ({ steps }: ProofReport, name: string) => steps.find((one) => one.name === name)?.result;
  const questions: string[] = [];

  test('who does not agree has deployed nothing', async () => {
    const confirm = async (question: string) => void questions.push(question) === undefined && false;
    assert.equal(
      await prove(options(), portsOf({ confirm, deploy: () => assert.fail('deployed') })),
      undefined,
    );
    assert.match(questions.join(), /deploys Countersign-prove in us-east-1, \d+ resources.*places one order/);
  });

  test('a wrong secret is found before anything is deployed', async () => {
    const said: string[] = [];
    const ports = portsOf({ deploy: () => assert.fail('deployed'), say: (line) => void said.push(line) });
    await assert.rejects(
      prove(options({ appSecret: 'not-the-secret' }), ports),
      /^Error: Nothing was deployed\.$/,
    );
    assert.match(said.join(), /app secret is wrong/);
    assert.ok(!said.join().includes('not-the-secret'));
  });

  test('a deployment that fails is deleted, and nothing is left of what did not begin', async () => {
    const deploy = () => Promise.reject(new Error('canary of the CDK'));
    const proof = await prove(options(), portsOf({ deploy }));
    assert.ok(proof);
    assert.ok(!isProven(proof.report));
    assert.equal(resultOf(proof.report, 'deploy'), 'failed');
    assert.deepEqual(proof.report.left, []);
    assert.ok(!JSON.stringify(proof.report).includes('canary of the CDK'));
  });

  test('each step, and the report', async () => {
    const { ok: _, ...refusedBefore } = simulator.counts;
    const proof = await prove(options(), portsOf());
    assert.ok(proof);
    const { report } = proof;
    const files = await writeReport(join(home, 'report'), proof);
    const [text = '', json = ''] = files.map((file) => readFileSync(file, 'utf8'));
    assert.deepEqual(
      report.steps.filter(({ result }) => result !== 'done').map(({ name, says }) => `${name}: ${says}`),
      ['stream: The stage has no streams of quotes.'],
      text,
    );
    assert.ok(isProven(report));
    for (const { group, outcomes } of report.groups) assert.deepEqual(outcomes, { answered: 10 }, group);
    assert.equal(report.groups.length, 7);
    limitWasKept(report);
    const { ok: __, ...refused } = simulator.counts;
    assert.deepEqual(refused, refusedBefore);
    assert.deepEqual([report.order?.placed, report.order?.ended], ['accepted', 'cancelled']);
    assert.equal(simulator.orders.length, 1);
    // What only AWS shows is read from where AWS puts it.
    assert.ok(
      report.startUp.some((one) => one.initMs === 412 && one.firstMs === 492),
      text,
    );
    assert.ok((report.sums.readUnits ?? 0) >= 7 && report.sums.throttles === 2, JSON.stringify(report.sums));
    assert.match(
      text,
      /\| A request that starts an instance, median \| docs\/load\.md, The platform \| 400 ms \| 492 ms \| 1\.2 times/,
    );
    assert.match(text, /\| Throttled by Lambda and DynamoDB \| .* \| 0 \| 2 \| does not hold \|/);
    assert.match(text, /Lambda, requests \| \$0\.000\d\d/);
    assert.equal(await stackStatus(stackName), undefined);
    assert.ok(
      report.left.some((one) => /^DynamoDB Table .*OrderJournal.*: goes; AWS keeps a backup/.test(one)),
      report.left.join(),
    );
    for (const secret of [...Object.values(canary), ...proof.confidential, accountId, '000000000000'])
      for (const one of [text, json, JSON.stringify(report)])
        assert.ok(secret === '' || !one.includes(secret), secret);
    assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(report)));
  });

  test('smoke fails: nothing else is called, and what cannot be deleted is named', async () => {
    simulator.bring(({ path }) => (/market-data/.test(path) ? { kind: 'status', status: 500 } : undefined));
    const destroy = () => Promise.reject(new Error());
    const proof = await prove(options({ isSandbox: false }), portsOf({ destroy }));
    simulator.bring();
    assert.ok(proof);
    const { report } = proof;
    assert.deepEqual(
      ['smoke', 'destroy'].map((name) => resultOf(report, name)),
      ['failed', 'failed'],
    );
    assert.deepEqual(report.groups, []);
    assert.match(
      report.left[0] ?? '',
      /^The stack Countersign-prove: `countersign destroy --stage prove -- --force`/,
    );
    assert.ok(report.left.some((one) => /^Lambda Function /.test(one)));
    await assert.rejects(() => prove(options(), portsOf()), /is there already \(CREATE_COMPLETE\)/);
    await deleteStack();
  });

  /** More was sent than the stage's part, and never more than the upstream allows. */
  function limitWasKept({ limit }: ProofReport) {
    assert.equal(limit?.holds, true, JSON.stringify(limit));
    assert.ok(limit.sent > limit.allowed * limit.share && limit.sent <= limit.allowed, JSON.stringify(limit));
  }
});

const shortly = (ms = 100) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const idIn = (url = '') => /^https:\/\/([^.]+)\./.exec(url)?.[1] ?? '';

function bodyOf(template: string): unknown {
  const { Resources } = JSON.parse(template) as {
    Resources: Record<string, { readonly Type: string; readonly Properties: { readonly Body?: unknown } }>;
  };
  return Object.values(Resources).find(({ Type }) => Type === 'AWS::ApiGateway::RestApi')?.Properties.Body;
}

/** What AWS does and the emulator does not: a line of an instance's start, and figures of functions and tables. */
async function asAws(deployed: readonly Deployed[]): Promise<void> {
  const idOf = (type: string, name: RegExp) =>
    deployed.find((one) => one.type === type && name.test(one.id))?.physicalId ??
    assert.fail(`${type} ${name}`);
  const logs = new CloudWatchLogsClient();
  const place = {
    logGroupName: idOf('AWS::Logs::LogGroup', /marketData|market-data/i),
    logStreamName: 'as-on-aws',
  };
  await logs.send(new CreateLogStreamCommand(place));
  const message =
    'REPORT RequestId: 6bc1\tDuration: 80.10 ms\tBilled Duration: 493 ms\tMemory Size: 512 MB\tMax Memory Used: 101 MB\tInit Duration: 412.31 ms\t\n';
  await logs.send(new PutLogEventsCommand({ ...place, logEvents: [{ timestamp: Date.now(), message }] }));
  const put = (Namespace: string, MetricName: string, Name: string, Value: string, count: number) =>
    new CloudWatchClient().send(
      new PutMetricDataCommand({
        Namespace,
        MetricData: [{ MetricName, Value: count, Timestamp: new Date(), Dimensions: [{ Name, Value }] }],
      }),
    );
  const lambda = idOf('AWS::Lambda::Function', /marketData|market-data/i);
  await put('AWS/Lambda', 'Invocations', 'FunctionName', lambda, 31);
  await put('AWS/Lambda', 'Throttles', 'FunctionName', lambda, 2);
  await put(
    'AWS/DynamoDB',
    'ConsumedReadCapacityUnits',
    'TableName',
    idOf('AWS::DynamoDB::Table', /Budget/),
    7,
  );
}
