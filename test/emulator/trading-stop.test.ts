/** A stop that an alarm sets, deployed, with roles enforced: warm functions place nothing five seconds later. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import {
  CloudWatchLogsClient,
  DescribeMetricFiltersCommand,
  FilterLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  DescribeRuleCommand,
  EventBridgeClient,
  ListRulesCommand,
  TestEventPatternCommand,
} from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, test } from 'vitest';
import { createDynamoMassCancels } from '../../functions/aws/dynamo-mass-cancels.ts';
import { cancelOrder } from '../../lib/catalogue/index.ts';
import { type ControlAdmin, maxControlAgeMs } from '../../lib/guard-rails/index.ts';
import { root } from '../support/bundle.ts';
import { accountId, orderBody, orderPath } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { answerOf, deployedStage, pause } from './deployed-stage.ts';
import { clientConfig, commandEnvironment, dynamoOf } from './deployment.ts';
import { tradingOperatorOf } from './operator.ts';
import { canary } from './stage.ts';

const run = promisify(execFile);
const filter = 'orders-refused';
const alarm = `Countersign-test-${filter}`;
const reason = 'Threshold Crossed: 1 datapoint [7.0] was greater than the threshold (5.0).';
const gateway = { kind: 'gateway' } as const;

describe('a stop that an alarm sets on the emulator', needsEmulator(), () => {
  let admin: ControlAdmin;
  let orders = 0;
  const stage = deployedStage({
    enforced: true,
    granted: true,
    props: {
      groups: { orders: 'iam' },
      trading: { limits: 'none', stopOnAlarms: { names: [alarm] } },
    },
    async prepare() {
      admin = await tradingOperatorOf(stage);
    },
  });

  const post = (path: string, body: string) => answerOf(stage, path, body);
  const place = (id = `of-the-alarm-${++orders}`) =>
    post(orderPath, orderBody({ client_order_id: id, order_type: 'LIMIT', limit_price: '1.10' }));

  /** What EventBridge hands to the function, and what CloudWatch invokes it with. */
  const changed = (value: string, name = alarm) => ({
    source: 'aws.cloudwatch',
    'detail-type': 'CloudWatch Alarm State Change',
    account: '000000000000',
    detail: { alarmName: name, state: { value, reason } },
  });
  const action = (value: string) => ({
    source: 'aws.cloudwatch',
    alarmArn: `arn:aws:cloudwatch:us-east-1:000000000000:alarm:${alarm}`,
    alarmData: { alarmName: alarm, state: { value, reason } },
  });

  async function invoke(event: object) {
    const lambda = new LambdaClient(clientConfig(stage.emulator));
    const { FunctionError, Payload } = await lambda.send(
      new InvokeCommand({
        FunctionName: stage.outputs.TradingStopFunctionArn,
        Payload: new TextEncoder().encode(JSON.stringify(event)),
      }),
    );
    return { FunctionError, answer: JSON.parse(new TextDecoder().decode(Payload)) as unknown };
  }

  for (const [form, event] of [
    ['an event of the bus', changed],
    ['an action of the alarm', action],
  ] as const)
    test(`${form} stops trading: warm functions send no order five seconds later, and cancels go through`, async () => {
      const open = `of-the-alarm-${++orders}`;
      assert.equal((await place(open)).status, 200);
      assert.deepEqual(await invoke(event('OK')), {
        FunctionError: undefined,
        answer: { result: 'no_alarm' },
      });
      assert.equal((await place()).status, 200);
      const stopped = await invoke(event('ALARM'));
      assert.deepEqual(stopped, { FunctionError: undefined, answer: { result: 'stopped' } });
      const effectiveAt = Date.now() + maxControlAgeMs;
      // Until then, too, it is sent or blocked, and nothing else becomes of it.
      while (Date.now() <= effectiveAt) {
        assert.ok([200, 403].includes((await place()).status));
        await pause(100);
      }
      const sent = stage.simulator.orders.length;
      const refused = await place();
      assert.deepEqual([refused.status, refused.body.code], [403, 'order_blocked'], refused.text);
      assert.equal(stage.simulator.orders.length, sent);
      const cancelled = await post(
        cancelOrder.path,
        JSON.stringify({ account_id: accountId, client_order_id: open }),
      );
      assert.equal(cancelled.status, 200, cancelled.text);
      assert.deepEqual((await admin.find(gateway))?.about?.stopped, { by: `alarm ${alarm}`, reason });
      assert.deepEqual((await invoke(event('ALARM'))).answer, { result: 'stopped_already' });
      assert.deepEqual((await invoke(event('OK'))).answer, { result: 'no_alarm' });
      assert.ok((await admin.find(gateway))?.stopped);
      await admin.apply({ action: 'resume', subject: gateway, reason: 'over' });
      while ((await place()).status !== 200) await pause(250);
    });

  test('the rule takes the alarms that the stage names, when they are raised, and nothing else', async () => {
    const events = new EventBridgeClient(clientConfig(stage.emulator));
    const { Rules = [] } = await events.send(new ListRulesCommand({}));
    const ours = Rules.find(({ EventPattern }) => EventPattern?.includes('aws.cloudwatch'));
    const { EventPattern } = await events.send(new DescribeRuleCommand({ Name: ours?.Name }));
    const takes = async (event: object) => {
      const Event = JSON.stringify({
        id: '1',
        time: '2026-11-23T15:00:00Z',
        region: 'us-east-1',
        resources: [],
        ...event,
      });
      return (await events.send(new TestEventPatternCommand({ EventPattern, Event }))).Result;
    };
    assert.equal(await takes(changed('ALARM')), true);
    for (const other of [
      changed('OK'),
      changed('INSUFFICIENT_DATA'),
      changed('ALARM', 'another'),
      { ...changed('ALARM'), source: 'my.app' },
      { ...changed('ALARM'), account: '111111111111' },
    ])
      assert.equal(await takes(other), false, JSON.stringify(other));
  });

  test('the example of the page is accepted as it is printed, and its words are those of the log', async () => {
    const page = readFileSync(join(root, 'docs/operation.md'), 'utf8');
    const [example = ''] = /(?<=```sh\n)LOGS=.*?(?=```)/s.exec(page) ?? [];
    const [drill = ''] = /^aws cloudwatch set-alarm-state .*$/m.exec(page) ?? [];
    const prelude = 'aws() { command aws --no-verify-ssl --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }';
    await run(
      'bash',
      ['-ec', [prelude, example, drill].join('\n').replaceAll('Countersign-prod', 'Countersign-test')],
      {
        env: {
          PATH: [join(import.meta.dirname, '.venv/bin'), '/usr/bin', '/bin'].join(delimiter),
          ...commandEnvironment(stage.emulator),
          AWS_DEFAULT_REGION: stage.emulator.region,
        },
      },
    );
    const config = clientConfig(stage.emulator);
    const { MetricAlarms: [raised] = [] } = await new CloudWatchClient(config).send(
      new DescribeAlarmsCommand({ AlarmNames: [alarm] }),
    );
    assert.deepEqual([raised?.StateValue, raised?.StateReason], ['ALARM', 'drill']);
    const logs = new CloudWatchLogsClient(config);
    const { metricFilters: [found] = [] } = await logs.send(
      new DescribeMetricFiltersCommand({ filterNamePrefix: filter }),
    );
    assert.equal(found?.metricTransformations?.[0]?.metricName, raised?.MetricName);
    const [, name, value] = /^{ \$\.(\w+) = ("\w+") }$/.exec(found?.filterPattern ?? '') ?? [];
    // The orders that the stops above have refused.
    const { events = [] } = await logs.send(
      new FilterLogEventsCommand({ logGroupName: found?.logGroupName }),
    );
    assert.ok(events.some(({ message }) => message?.includes(`"${name}":${value}`)));
  });

  test('where the stage says so, the stop asks to cancel what is open, in the same transaction', async () => {
    const tableName = stage.outputs.TradingControlsTable ?? '';
    const requests = createDynamoMassCancels({
      client: dynamoOf(stage.emulator),
      tableName,
    });
    assert.deepEqual(await requests.open(), []);
    await stage.update({ trading: { limits: 'none', stopOnAlarms: { names: [alarm], cancelOpen: true } } });
    assert.deepEqual((await invoke(action('ALARM'))).answer, { result: 'stopped' });
    const stoppedAt = (await admin.find(gateway))?.stopped?.at;
    assert.deepEqual(
      (await requests.open()).map(({ scope, at }) => ({ scope, at })),
      [{ scope: 'stack', at: stoppedAt }],
    );
    await admin.apply({ action: 'resume', subject: gateway, reason: 'over' });
  });

  test('what is no alarm fails, and says so in the log, where no secret and no account is', async () => {
    const { FunctionError } = await invoke({ source: 'my.app', detail: { canary: 'canary-of-the-event' } });
    assert.ok(FunctionError);
    const output = stage.emulator.output();
    assert.match(output, /"event":"trading_alarm_not_read"/);
    for (const word of [accountId, canary.appSecret, canary.appKey, 'canary-of-the-event'])
      assert.ok(!output.includes(word), word);
  });
});
