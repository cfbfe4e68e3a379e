/**
 * A function that looks at the access token on a schedule, and its alarms: before the token ends, when it does not
 * work, and when it cannot be checked. It reads the secret and writes its own log; a new token is the operator's work,
 * because its owner has to confirm it.
 */

import { fileURLToPath } from 'node:url';
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { tokenMetric } from '../../functions/log/token-metric.ts';
import { GroupFunction, type GroupFunctionProps } from './group-function.ts';
import type { ResolvedAccessToken } from './token-config.ts';

export interface TokenCheckProps
  extends Pick<GroupFunctionProps, 'environment' | 'logRetentionDays' | 'removalPolicy'> {
  readonly secretArn: string;
  readonly config: ResolvedAccessToken;
  readonly upstreamTimeoutSeconds: number;
  /** In place of `functions/access-token/handler.ts`. */
  readonly entry?: string;
}

/** Configuration, check, use and another check; and the secret. */
const calls = 4;

export class TokenCheck extends Construct {
  /** May be invoked at any time, too. */
  readonly function: Lambda;
  /** Raised days before the token's end, and as soon as a check finds that it does not work. */
  readonly endAlarm: Alarm;
  /** Raised at the first request that the upstream refuses for its token, hours before a check may find it. */
  readonly refusedAlarm: Alarm;
  /** Raised when every check of a day has failed. */
  readonly checkAlarm: Alarm;

  constructor(scope: Construct, id: string, props: TokenCheckProps) {
    super(scope, id);
    const { config, upstreamTimeoutSeconds, entry = handler, ...rest } = props;
    this.function = new GroupFunction(this, 'access-token', {
      ...rest,
      title: 'Access token',
      entry,
      timeoutSeconds: calls * upstreamTimeoutSeconds + 10,
      memoryMiB: 256,
    }).function;
    new Rule(this, 'Schedule', {
      description: 'Checks the access token at the upstream',
      schedule: Schedule.rate(Duration.hours(config.checkEveryHours)),
      targets: [new LambdaFunction(this.function)],
    });
    this.endAlarm = new Alarm(this, 'TokenAlarm', {
      alarmDescription: `The access token has ${config.alarmDaysBefore} days or less, or does not work: run npm run token.`,
      metric: new Metric({
        namespace: 'Countersign',
        metricName: 'TokenDaysLeft',
        dimensionsMap: { Function: this.function.functionName },
        statistic: 'Minimum',
        // Shorter than the schedule, so that a finding counts at once and not at the end of a period of hours.
        period: Duration.minutes(5),
      }),
      threshold: config.alarmDaysBefore,
      comparisonOperator: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      // Between two checks the alarm stays as the last one left it.
      treatMissingData: TreatMissingData.IGNORE,
    });
    this.refusedAlarm = new Alarm(this, 'TokenRefusedAlarm', {
      alarmDescription: 'The upstream refuses the access token of a request: run npm run token.',
      metric: new Metric({
        namespace: 'Countersign',
        metricName: tokenMetric.name,
        dimensionsMap: { [tokenMetric.dimension]: props.secretArn },
        statistic: 'Sum',
        period: Duration.minutes(5),
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.checkAlarm = new Alarm(this, 'TokenCheckAlarm', {
      alarmDescription:
        'The access token could not be checked for a day: the function’s log says why, as token_not_checked.',
      // 1 for a run that failed, 0 for one that did not.
      metric: this.function.metricErrors({ statistic: 'Minimum', period: Duration.days(1) }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.IGNORE,
    });
    if (config.alarmTopic) {
      const action = new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', config.alarmTopic));
      for (const alarm of [this.endAlarm, this.refusedAlarm, this.checkAlarm]) alarm.addAlarmAction(action);
    }
  }
}

const handler = fileURLToPath(new URL('../../functions/access-token/handler.ts', import.meta.url));
