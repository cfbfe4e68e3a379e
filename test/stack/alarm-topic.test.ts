/** One topic for every alarm of a stack; a part that names its own keeps it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { testRefusals } from './refusals.ts';
import { synthesise } from './synthesise.ts';

const topic = (name: string) => `arn:aws:sns:eu-central-1:123456789012:${name}`;

const actionsOf = (config: Parameters<typeof synthesise>[0]) =>
  synthesise(config)
    .all('AWS::CloudWatch::Alarm')
    .map(([id, { Properties }]) => [id, Properties.AlarmActions as readonly string[] | undefined] as const);

/** Every part that has an alarm. */
const whole = {
  groups: { orders: 'iam', accounts: 'iam', watchlists: 'iam' },
  accessToken: {},
  tradeEvents: {},
  events: {},
  trading: { limits: 'none', stopOnAlarms: {} },
} as const;

test('every alarm of a stack goes to its topic', () => {
  const alarms = actionsOf({ ...whole, alarmTopic: topic('all') });
  assert.ok(alarms.length >= 15, `only ${alarms.length}`);
  for (const [id, actions] of alarms) assert.deepEqual(actions, [topic('all')], id);
});

test('a part with a topic of its own goes there alone', () => {
  const alarms = actionsOf({
    ...whole,
    accessToken: { alarmTopic: topic('token') },
    alarmTopic: topic('all'),
  });
  const others = alarms.filter(([, actions]) => actions?.[0] !== topic('all'));
  assert.equal(others.length, 3);
  for (const [id, actions] of others) {
    assert.match(id, /^AccessToken/);
    assert.deepEqual(actions, [topic('token')]);
  }
});

test('without one an alarm tells nothing, and is there', () => {
  for (const [id, actions] of actionsOf(whole)) assert.equal(actions, undefined, id);
});

const upstream = { baseUrl: 'https://upstream.example', limits: 'interface' };
testRefusals([['no topic', { upstream, alarmTopic: 'me' }, /^alarmTopic takes the ARN of an SNS topic/]]);
