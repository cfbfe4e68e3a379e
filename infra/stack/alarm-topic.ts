/** One topic that hears of every alarm of a stack, so that none is missed because its part names no topic. */

import { Stack } from 'aws-cdk-lib';
import { Alarm, type CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** Alarms that have a topic of their own keep it, and go there alone. */
export function sendAlarmsTo(topicArn: string, scope: Construct): void {
  const action = new SnsAction(Topic.fromTopicArn(scope, 'AlarmTopic', topicArn));
  const alarms = scope.node.findAll().filter((one) => one instanceof Alarm);
  for (const alarm of alarms) if (!hasAction(alarm)) alarm.addAlarmAction(action);
}

const hasAction = (alarm: Alarm): boolean => {
  const { alarmActions } = alarm.node.defaultChild as CfnAlarm;
  return Stack.of(alarm).resolve(alarmActions) !== undefined;
};
