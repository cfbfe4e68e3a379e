/** Alarms, the metrics that functions write for them, and the topics that hear of them. */

import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** What differs from the usual alarm, which one value of 1 or more raises, and no value does not. */
export interface AlarmOptions {
  readonly threshold?: number;
  readonly comparison?: ComparisonOperator;
  /** How many periods in a row raise it. */
  readonly periods?: number;
  readonly missing?: TreatMissingData;
}

/** @param description what is wrong, and where an operator looks next */
export const alarm = (
  scope: Construct,
  id: string,
  description: string,
  metric: IMetric,
  {
    threshold = 1,
    comparison = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    periods = 1,
    missing = TreatMissingData.NOT_BREACHING,
  }: AlarmOptions = {},
): Alarm =>
  new Alarm(scope, id, {
    alarmDescription: description,
    metric,
    threshold,
    comparisonOperator: comparison,
    evaluationPeriods: periods,
    treatMissingData: missing,
  });

/** A metric of ours by the value of its one dimension, over five minutes. */
export const metricOf = (
  { name, dimension }: { readonly name: string; readonly dimension: string },
  value: string,
  statistic = 'Sum',
  minutes = 5,
): Metric =>
  new Metric({
    namespace: 'Countersign',
    metricName: name,
    dimensionsMap: { [dimension]: value },
    statistic,
    period: Duration.minutes(minutes),
  });

/** What a function says of its own work. */
export const functionMetric = (
  { functionName }: LambdaFunction,
  name: string,
  statistic: string,
  minutes?: number,
): Metric => metricOf({ name, dimension: 'Function' }, functionName, statistic, minutes);

/** Nothing where no topic is named. */
export function tellTopic(
  scope: Construct,
  topicArn: string | undefined,
  alarms: readonly Alarm[],
  id = 'AlarmTopic',
): void {
  if (topicArn === undefined) return;
  const action = new SnsAction(Topic.fromTopicArn(scope, id, topicArn));
  for (const one of alarms) one.addAlarmAction(action);
}

const alarmsIn = (scope: Construct) =>
  scope.node.findAll().filter((one): one is Alarm => one instanceof Alarm);

/** Every alarm of a stack, so that none is missed because its part names no topic. Those that have a topic go there alone. */
export const tellTopicOfRest = (scope: Construct, topicArn: string | undefined): void =>
  tellTopic(
    scope,
    topicArn,
    alarmsIn(scope).filter((one) => !hasAction(one)),
  );

/** After all of them were made: no part need know whether they are wanted. */
export function leaveOutAlarms(scope: Construct): void {
  for (const { node } of alarmsIn(scope)) node.scope?.node.tryRemoveChild(node.id);
}

const hasAction = (one: Alarm): boolean => {
  const { alarmActions } = one.node.defaultChild as CfnAlarm;
  return Stack.of(one).resolve(alarmActions) !== undefined;
};
