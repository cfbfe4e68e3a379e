/**
 * The table in which all functions count their requests to the upstream, their variables for it, and the alarms that say
 * that the upstream allows less than is configured.
 */

import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { AttributeType, BillingMode, type ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { UpstreamLimits } from '../../lib/catalogue/limits.ts';
import type { ResolvedConfig } from './config.ts';

export interface LimiterTable {
  readonly arn: string;
  /** What the functions call it by. */
  readonly name: string;
  readonly table: ITable;
}

/** @param shared the name or ARN of a table that is there already */
export function limiterTable(scope: Construct, shared: string | undefined): LimiterTable {
  if (shared !== undefined) return sharedTable(scope, shared);
  // The id is older than the name limiter: another one would replace the table.
  const table = new Table(scope, 'Budget', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    timeToLiveAttribute: 'expires_at',
    // No fixed cost, and no figure to outgrow.
    billingMode: BillingMode.PAY_PER_REQUEST,
    // With any `onRemoval`: what it holds is of no use two minutes later.
    removalPolicy: RemovalPolicy.DESTROY,
  });
  Validations.of(table).acknowledge({
    id: 'AwsSolutions-DDB3',
    reason:
      'It holds how many requests were sent within the last minute: a backup of an earlier moment would be wrong, and the functions create a lost item again.',
  });
  // The library's class is its own interface, but not to a compiler that tells undefined from absent.
  return { arn: table.tableArn, name: table.tableName, table: table as ITable };
}

function sharedTable(scope: Construct, shared: string): LimiterTable {
  const arn = shared.startsWith('arn:')
    ? shared
    : Stack.of(scope).formatArn({ service: 'dynamodb', resource: 'table', resourceName: shared });
  // DynamoDB takes an ARN wherever it takes a name.
  return { arn, name: shared, table: Table.fromTableArn(scope, 'Budget', arn) };
}

export interface LimiterAlarms {
  /** The upstream answered 429 although its configured limits were kept. */
  readonly rateLimited: Alarm;
  /** All functions keep tighter limits than the configured ones, until an operator ends it. */
  readonly tightened: Alarm;
}

/** @param topicArn of the SNS topic that hears of them */
export function limiterAlarms(
  scope: Construct,
  { name }: LimiterTable,
  topicArn: string | undefined,
): LimiterAlarms {
  const alarm = (id: string, metricName: string, statistic: string, alarmDescription: string) =>
    new Alarm(scope, id, {
      alarmDescription,
      metric: new Metric({
        namespace: 'Countersign',
        metricName,
        dimensionsMap: { LimiterTable: name },
        statistic,
        period: Duration.minutes(5),
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  const alarms = {
    rateLimited: alarm(
      'RateLimitedAlarm',
      'UpstreamRateLimited',
      'Sum',
      'The upstream answered 429 although the gateway keeps upstream.limits: the log event upstream_rate_limited says what follows from it.',
    ),
    tightened: alarm(
      'LimitsTightenedAlarm',
      'LimitsTightened',
      'Maximum',
      'The functions keep tighter limits than upstream.limits, which the upstream has refused: deploy another choice, or run npm run limits.',
    ),
  };
  if (topicArn) {
    const action = new SnsAction(Topic.fromTopicArn(scope, 'LimiterAlarmTopic', topicArn));
    for (const one of Object.values(alarms)) one.addAlarmAction(action);
  }
  return alarms;
}

/** What is not configured is left to the functions' own defaults. */
export function limiterVariables(
  { name }: LimiterTable,
  { share, instances, reserve, bucket, operationLimits }: ResolvedConfig['limiter'],
  upstreamLimits: UpstreamLimits,
): Record<string, string> {
  return {
    LIMITER_TABLE: name,
    UPSTREAM_LIMITS: typeof upstreamLimits === 'string' ? upstreamLimits : JSON.stringify(upstreamLimits),
    ...(share !== undefined && { LIMITER_SHARE: String(share) }),
    ...(instances !== undefined && { LIMITER_INSTANCES: String(instances) }),
    ...(reserve !== undefined && { LIMITER_RESERVE: String(reserve) }),
    ...(bucket !== undefined && { LIMITER_BUCKET: bucket }),
    // The same for all functions: those that share a limit must agree on it.
    ...(Object.keys(operationLimits).length > 0 && {
      LIMITER_OPERATION_LIMITS: JSON.stringify(operationLimits),
    }),
  };
}
