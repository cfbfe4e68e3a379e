/** The stop that an alarm sets: both events that tell of an alarm, what is no alarm, and a store that is away. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { tradingStopPorts } from '../../functions/aws/order-ports.ts';
import { start, tradingStop } from '../../functions/compose/functions.ts';
import { composeTradingStop } from '../../functions/compose/trading-stop.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import {
  type ControlAdminStore,
  createControlAdmin,
  createMemoryControls,
} from '../../lib/guard-rails/index.ts';
import { hostWith } from '../support/deployed.ts';
import { each } from '../support/each.ts';
import { identity, identityKey } from '../support/instances.ts';

const now = Date.UTC(2026, 10, 23, 15);
const crossed =
  'Threshold Crossed: 1 out of the last 1 datapoints [7.0 (23/11/26 14:59:00)] was greater than 5.0';

/** As EventBridge brings it. */
const changed = (value: string, name = 'orders-refused', reason: unknown = crossed) => ({
  version: '0',
  id: 'c4c1c1c9-6542-e61b-6ef0-8c4d36933a92',
  'detail-type': 'CloudWatch Alarm State Change',
  source: 'aws.cloudwatch',
  account: '123456789012',
  region: 'us-east-1',
  resources: [`arn:aws:cloudwatch:us-east-1:123456789012:alarm:${name}`],
  detail: { alarmName: name, state: { value, reason }, previousState: { value: 'OK' } },
});
/** As CloudWatch invokes an alarm's action. */
const action = (value: string, name = 'orders-refused', reason: unknown = crossed) => ({
  source: 'aws.cloudwatch',
  alarmArn: `arn:aws:cloudwatch:us-east-1:123456789012:alarm:${name}`,
  accountId: '123456789012',
  region: 'us-east-1',
  alarmData: { alarmName: name, state: { value, reason }, previousState: { value: 'OK' } },
});
const forms = [
  ['an event of the bus', changed],
  ['an action of the alarm', action],
] as const;

function world(change: Partial<ControlAdminStore> = {}, cancelOpen = false) {
  const memory = createMemoryControls();
  const lines: LogEntry[] = [];
  const handler = composeTradingStop(
    { tableName: 'controls', identityKeySecretId: 'identity-key', cancelOpen },
    {
      ...hostWith((entry) => lines.push(entry), { clock: () => now }),
      secret: (secretId) => ({ read: async () => (secretId === 'identity-key' ? identityKey : undefined) }),
      controlAdmin(tableName) {
        assert.equal(tableName, 'controls');
        return { ...memory, ...change };
      },
    },
  );
  const admin = createControlAdmin({ store: memory, identity, by: 'operator', clock: () => now - 60_000 });
  const stop = async () => (await memory.read(['stack'])).get('stack')?.stopped;
  return { handler, lines, admin, memory, stop };
}

describe.each(forms)('%s', (_, event) => {
  test('stops the gateway, and the history names the alarm and its reason', async () => {
    const { handler, lines, admin, stop } = world();
    assert.deepEqual(await handler(event('ALARM')), { result: 'stopped' });
    assert.deepEqual(await stop(), { at: now });
    const by = 'alarm orders-refused';
    assert.deepEqual(await admin.history(2), [
      {
        at: new Date(now).toISOString(),
        by,
        version: 1,
        change: { action: 'stop', subject: { kind: 'gateway' }, reason: crossed },
      },
    ]);
    const found = await admin.find({ kind: 'gateway' });
    assert.deepEqual(found?.about?.stopped, { by, reason: crossed });
    assert.deepEqual(lines, [
      { level: 'warn', event: 'trading_alarm', alarm: 'orders-refused', state: 'ALARM', result: 'stopped' },
    ]);
  });

  test('that comes again, or after an operator’s stop, changes nothing', async () => {
    const { handler, admin } = world();
    await admin.apply({ action: 'stop', subject: { kind: 'gateway' }, reason: 'by hand' });
    assert.deepEqual(await handler(event('ALARM')), { result: 'stopped_already' });
    assert.deepEqual(await handler(event('ALARM')), { result: 'stopped_already' });
    assert.equal((await admin.history(10)).length, 1);
    assert.equal((await admin.find({ kind: 'gateway' }))?.about?.stopped?.reason, 'by hand');
  });

  test('of another state neither stops nor resumes', async () => {
    for (const state of ['OK', 'INSUFFICIENT_DATA']) {
      const { handler, stop, lines } = world();
      assert.deepEqual(await handler(event(state)), { result: 'no_alarm' });
      assert.equal(await stop(), undefined);
      await handler(event('ALARM'));
      assert.deepEqual(await handler(event(state)), { result: 'no_alarm' });
      assert.deepEqual(await stop(), { at: now });
      assert.deepEqual(each(lines, 'level'), ['info', 'warn', 'info']);
    }
  });

  test('with a reason that cannot be printed as it is, or with none, stops all the same', async () => {
    for (const [given, reason] of [
      ['a\nb', 'a b'],
      ['x'.repeat(1023), `${'x'.repeat(499)}…`],
      [undefined, 'the alarm says no reason'],
      [7, 'the alarm says no reason'],
    ] as const) {
      const { handler, admin } = world();
      assert.deepEqual(await handler(event('ALARM', 'a\u202eb', given)), { result: 'stopped' });
      const about = (await admin.find({ kind: 'gateway' }))?.about;
      assert.deepEqual(about?.stopped, { by: 'alarm a b', reason: given === undefined ? crossed : reason });
    }
  });
});

test('where the stage says so, what is open is cancelled too: once for each alarm, also when trading is stopped already', async () => {
  const open = (memory: ReturnType<typeof createMemoryControls>) => memory.massCancels.open();
  const without = world();
  await without.handler(changed('ALARM'));
  assert.deepEqual(await open(without.memory), []);
  const { handler, admin, memory, stop } = world({}, true);
  await admin.apply({ action: 'stop', subject: { kind: 'gateway' }, reason: 'by hand' });
  await handler(changed('OK'));
  assert.deepEqual(await open(memory), []);
  assert.deepEqual(await handler(changed('ALARM')), { result: 'stopped' });
  const [request, ...others] = await open(memory);
  assert.deepEqual([request?.scope, request?.at, others], ['stack', now, []]);
  assert.deepEqual(await stop(), { at: now - 60_000 });
  const [line] = await admin.history(1);
  assert.ok(line && 'change' in line && line.change.action === 'stop' && line.change.cancelOpen);
});

test('limits that operators have set stay through the stop', async () => {
  const { handler, admin, memory } = world();
  const changes = { max_orders_per_minute: 3 };
  await admin.apply({ action: 'limits', subject: { kind: 'gateway' }, changes });
  await handler(changed('ALARM'));
  assert.deepEqual((await memory.read(['stack'])).get('stack'), {
    version: 2,
    limits: changes,
    stopped: { at: now },
  });
});

test('what is no event of an alarm fails, so that Lambda counts an error; nothing of it is said', async () => {
  const { detail, ...withoutDetail } = changed('ALARM');
  for (const event of [
    undefined,
    null,
    'ALARM',
    7,
    [],
    {},
    withoutDetail,
    { ...changed('ALARM'), source: 'my.app' },
    { ...action('ALARM'), source: undefined },
    { ...changed('ALARM'), 'detail-type': 'CloudWatch Alarm Configuration Change' },
    { source: 'aws.cloudwatch', detail },
    changed('ALARM', ''),
    changed('alarm'),
    action('PANIC'),
    { source: 'aws.cloudwatch', alarmData: { alarmName: 7, state: { value: 'ALARM' } } },
    { source: 'aws.cloudwatch', alarmData: { alarmName: 'canary', state: 'ALARM' } },
  ]) {
    const { handler, lines, stop } = world();
    await assert.rejects(handler(event), { message: 'not an event of an alarm' });
    assert.deepEqual(lines, [{ level: 'error', event: 'trading_alarm_not_read' }]);
    assert.equal(await stop(), undefined);
  }
});

test('a stop that cannot be set fails, and the next try sets it', async () => {
  let isAway = true;
  const memory = createMemoryControls();
  const { handler, lines } = world({
    find: async (key) => {
      if (isAway) throw Object.assign(new Error('canary-of-the-store'), { code: 'AccessDeniedException' });
      return memory.find(key);
    },
    write: memory.write,
  });
  await assert.rejects(handler(changed('ALARM')), { message: /^trading is not stopped; the log says why/ });
  const [{ at: _, ...line } = {}] = lines as readonly Readonly<Record<string, unknown>>[];
  assert.deepEqual(line, {
    level: 'error',
    event: 'trading_not_stopped',
    alarm: 'orders-refused',
    name: 'Error',
    code: 'AccessDeniedException',
  });
  assert.doesNotMatch(JSON.stringify(lines), /canary-of-the-store/);
  isAway = false;
  assert.deepEqual(await handler(changed('ALARM')), { result: 'stopped' });
});

test('a wrong environment fails each event, and says which variable', async () => {
  const lines: LogEntry[] = [];
  const env = { TRADING_STOP: 'yes' };
  const ports = tradingStopPorts(hostWith((entry) => lines.push(entry)));
  const handler = start(tradingStop, env, ports);
  await assert.rejects(handler(changed('ALARM')), { message: 'wrong_configuration' });
  assert.deepEqual(lines, [
    {
      level: 'error',
      event: 'wrong_configuration',
      faults: ['TRADING_STOP: not JSON', 'IDENTITY: not set'],
    },
  ]);
});
