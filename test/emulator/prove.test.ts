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
import { prove } from '../../infra/commands/prove/prove.ts';
import { writeReport } from '../../infra/commands/prove/prove-command.ts';
import type { ProvePorts } from '../../infra/commands/prove/prove-day.ts';
import { stackStatus } from '../../infra/commands/prove/prove-measure.ts';
import { isProven, type ProofReport } from '../../infra/commands/prove/prove-report.ts';
import { type DeployedResource, deployedOf } from '../../infra/commands/stack-resources.ts';
import { outputsOf } from '../../infra/commands/stack-secret.ts';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import type { CountersignConfig } from '../../infra/stack/config.ts';
import { configOf } from '../../infra/stack/stages.ts';
import { missingForStartUp } from '../lambda/runtime-client.ts';
import { accountId } from '../support/core.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { type Ministack, startMinistack, whatIsMissing } from '../support/ministack.ts';
import { orSkip } from '../support/missing.ts';
import { completeImport } from './complete-import.ts';
import { commandEnvironment, deploy } from './deployment.ts';
import { canary } from './stage.ts';
import { startStreamFront } from './stream-front.ts';
import { synthesised } from './synthesis.ts';

const stackName = 'Countersign-prove';

describe('a first day', orSkip(whatIsMissing() ?? missingForStartUp()), () => {
  const home = mkdtempSync(join(tmpdir(), 'countersign-prove-'));
  const before = { cwd: process.cwd(), env: { ...process.env } };
  let simulator: Simulator;
  let emulator: Ministack;
  let config: CountersignConfig;
  let bundles: string;
  let issuer: Issuer;

  beforeAll(async () => {
    simulator = await startSimulator({ ...canary, upstreamLimits: 'published-sandbox' });
    // The stage of that name as it is, but for its upstream.
    const own = configOf('prove');
    config = { ...own, upstream: { ...own.upstream, baseUrl: simulator.url, allowLoopback: true } };
    emulator = await startMinistack({ tellsKeys: true });
    issuer = await startIssuer();
    Object.assign(process.env, commandEnvironment(emulator));
    process.chdir(home);
    configure(config);
  });
  afterAll(async () => {
    process.chdir(before.cwd);
    process.env = before.env;
    await emulator?.stop();
    await issuer?.stop();
    await simulator?.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** As a deployer does: the commands read the file. */
  function configure(next: CountersignConfig) {
    config = next;
    writeFileSync('countersign.json', JSON.stringify({ prove: config }));
  }

  const deleteStack = async () => {
    await new CloudFormationClient().send(new DeleteStackCommand({ StackName: stackName }));
    while ((await stackStatus(stackName)) !== undefined) await shortly();
  };

  /** As the command has them, but for the CDK's program and the address that the emulator gives an API. */
  function portsOf(more: Partial<ProvePorts> = {}): ProvePorts {
    return {
      async deploy() {
        const assembly = await synthesised(home, stackName, config);
        bundles = assembly.directory;
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
    token: undefined,
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
      [
        'order stream: The stage has no streams of order events (live.maxOrderStreams).',
        'stream: The stage has no streams of quotes.',
      ],
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
      report.left.some((one) => /^DynamoDB Table .*OrderJournal.*: deleted; AWS keeps a backup/.test(one)),
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

  test('a stage that knows its users by token and by key, and tells them of their orders', async (t) => {
    const subject = 'canary-subject-of-prove';
    const [token = ''] = await issuer.tokens([
      { claims: { sub: subject, client_id: 'app', scope: 'read trade' } },
    ]);
    configure({
      ...config,
      groups: { accounts: 'jwt', orders: 'bound-key', watchlists: 'jwt' },
      auth: { issuer: issuer.url, clientIds: ['app'] },
      trading: { limits: { max_order_notional: '1000', max_orders_per_minute: 10 } },
      tradeEvents: { endpoint: `127.0.0.1:${simulator.events.port}` },
      live: { maxOrderStreams: 10, streamSeconds: 60 },
    });
    const ports = portsOf();
    let isHeard = false;
    const proof = await prove(options({ token }), {
      ...ports,
      async pause(ms) {
        if (simulator.events.open > 0 && !isHeard) {
          isHeard = true;
          // The emulator keeps what a function logs until its run has ended, which is a quarter of an hour here.
          await logLine(await deployedOf(stackName), /^TradeEvents/, '{"event":"trade_stream_subscribed"}');
        }
        await shortly(ms);
      },
      async outputs() {
        const outputs = new Map(await ports.outputs());
        const url = await startStreamFront(t, {
          emulator,
          url: outputs.get('ApiUrl') ?? '',
          apiKeyId: outputs.get('ApiKeyId') ?? '',
          ...(await functionOf('orderstreams', bundles)),
        });
        return outputs.set('ApiUrl', url);
      },
    });
    assert.ok(proof);
    const { report, confidential } = proof;
    const text = JSON.stringify(report, undefined, 1);
    assert.deepEqual(
      report.steps.filter(({ result }) => result !== 'done').map(({ name }) => name),
      ['stream'],
      text,
    );
    assert.match(
      report.steps.find(({ name }) => name === 'users')?.says ?? '',
      /^May read and trade: the API key, the user of the token\./,
    );
    for (const { group, outcomes } of report.groups) assert.deepEqual(outcomes, { answered: 10 }, group);
    assert.equal(report.groups.length, 7);
    assert.ok(report.order?.told?.replaced !== undefined && report.order.told.cancelled !== undefined, text);
    for (const secret of [subject, token, accountId]) assert.ok(confidential.includes(secret));
    for (const secret of confidential) assert.ok(secret === '' || !text.includes(secret), secret);
  });

  test('without a token says what was not called, and why', async () => {
    const proof = await prove(options({ isSandbox: false }), portsOf());
    assert.ok(proof);
    const { steps, groups } = proof.report;
    const tokenless = /^It opens with jwt: set TOKEN/;
    assert.deepEqual(
      steps.filter(({ says }) => tokenless.test(says)).map(({ name, result }) => [name, result]),
      [
        ['calls of accounts', 'left out'],
        ['calls of watchlists', 'left out'],
      ],
    );
    assert.ok(!groups.some(({ group }) => group === 'accounts'));
  });

  /** More was sent than the stage's part, and never more than the upstream allows. */
  function limitWasKept({ limit }: ProofReport) {
    assert.equal(limit?.holds, true, JSON.stringify(limit));
    assert.ok(limit.sent > limit.allowed * limit.share && limit.sent <= limit.allowed, JSON.stringify(limit));
  }
});

/** A deployed function, and where its bundle is. */
async function functionOf(id: string, directory: string) {
  const found = (await deployedOf(stackName)).find(
    (one) => one.type === 'AWS::Lambda::Function' && one.id.startsWith(id),
  );
  assert.ok(found);
  const { Resources } = JSON.parse(readFileSync(join(directory, `${stackName}.template.json`), 'utf8')) as {
    Resources: Record<string, { readonly Properties: { readonly Code?: { readonly S3Key: string } } }>;
  };
  const [, resource] = Object.entries(Resources).find(([name]) => name.startsWith(found.id)) ?? [];
  const bundle = join(directory, `asset.${resource?.Properties.Code?.S3Key.replace('.zip', '')}`);
  return { functionName: found.physicalId, bundle };
}

const shortly = (ms = 100) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const idIn = (url = '') => /^https:\/\/([^.]+)\./.exec(url)?.[1] ?? '';

function bodyOf(template: string): unknown {
  const { Resources } = JSON.parse(template) as {
    Resources: Record<string, { readonly Type: string; readonly Properties: { readonly Body?: unknown } }>;
  };
  return Object.values(Resources).find(({ Type }) => Type === 'AWS::ApiGateway::RestApi')?.Properties.Body;
}

const idOf = (deployed: readonly DeployedResource[], type: string, name: RegExp) =>
  deployed.find((one) => one.type === type && name.test(one.id))?.physicalId ??
  assert.fail(`${type} ${name}`);

async function logLine(deployed: readonly DeployedResource[], name: RegExp, message: string): Promise<void> {
  const logs = new CloudWatchLogsClient();
  const place = { logGroupName: idOf(deployed, 'AWS::Logs::LogGroup', name), logStreamName: 'as-on-aws' };
  await logs.send(new CreateLogStreamCommand(place));
  await logs.send(new PutLogEventsCommand({ ...place, logEvents: [{ timestamp: Date.now(), message }] }));
}

const marketData = /marketData|market-data/i;

/** What AWS does and the emulator does not: a line of an instance's start, and figures of functions and tables. */
async function asAws(deployed: readonly DeployedResource[]): Promise<void> {
  await logLine(
    deployed,
    marketData,
    'REPORT RequestId: 6bc1\tDuration: 80.10 ms\tBilled Duration: 493 ms\tMemory Size: 512 MB\tMax Memory Used: 101 MB\tInit Duration: 412.31 ms\t\n',
  );
  const put = (Namespace: string, MetricName: string, Name: string, Value: string, count: number) =>
    new CloudWatchClient().send(
      new PutMetricDataCommand({
        Namespace,
        MetricData: [{ MetricName, Value: count, Timestamp: new Date(), Dimensions: [{ Name, Value }] }],
      }),
    );
  const lambda = idOf(deployed, 'AWS::Lambda::Function', marketData);
  await put('AWS/Lambda', 'Invocations', 'FunctionName', lambda, 31);
  await put('AWS/Lambda', 'Throttles', 'FunctionName', lambda, 2);
  await put(
    'AWS/DynamoDB',
    'ConsumedReadCapacityUnits',
    'TableName',
    idOf(deployed, 'AWS::DynamoDB::Table', /Budget/),
    7,
  );
}
