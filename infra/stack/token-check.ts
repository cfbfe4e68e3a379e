/**
 * A function that looks at the access token on a schedule, and its alarms: before the token ends, when it does not
 * work, and when it cannot be checked. It reads the secret and writes its own log; a new token is the operator's work,
 * because its owner has to confirm it.
 */

import { Duration } from 'aws-cdk-lib';
import { type Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { tokenMetric } from '../../functions/log/token-metric.ts';
import { checkToken, getConfig, listAccounts } from '../../lib/catalogue/index.ts';
import { alarm, functionMetric, metricOf, tellTopic } from './alarms.ts';
import { GroupFunction } from './group-function.ts';
import type { Shared } from './shared.ts';
import type { ResolvedAccessToken } from './token-config.ts';

export interface TokenCheckProps {
  readonly shared: Shared;
  readonly config: ResolvedAccessToken;
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
    const { shared, config } = props;
    this.function = new GroupFunction(this, 'access-token', {
      // Without the limiter: see the calls themselves.
      ...shared.asking([checkToken, getConfig, listAccounts], 'uncounted'),
      title: 'Access token',
      entry: shared.entryOf('access-token'),
      timeoutSeconds: calls * shared.config.upstream.timeoutSeconds + 10,
    }).function;
    new Rule(this, 'Schedule', {
      description: 'Checks the access token at the upstream',
      schedule: Schedule.rate(Duration.hours(config.checkEveryHours)),
      targets: [new LambdaFunction(this.function)],
    });
    this.endAlarm = alarm(
      this,
      'TokenAlarm',
      `The access token has ${config.alarmDaysBefore} days or less, or does not work: run countersign token.`,
      // Its period is shorter than the schedule, so that a finding counts at once and not at the end of hours.
      functionMetric(this.function, 'TokenDaysLeft', 'Minimum'),
      {
        threshold: config.alarmDaysBefore,
        comparison: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
        // Between two checks the alarm stays as the last one left it.
        missing: TreatMissingData.IGNORE,
      },
    );
    this.refusedAlarm = alarm(
      this,
      'TokenRefusedAlarm',
      'The upstream refuses the access token of a request: run countersign token.',
      metricOf(tokenMetric, shared.secret.secretArn),
    );
    this.checkAlarm = alarm(
      this,
      'TokenCheckAlarm',
      'The access token could not be checked for a day: the function’s log says why, as token_not_checked.',
      // 1 for a run that failed, 0 for one that did not.
      this.function.metricErrors({ statistic: 'Minimum', period: Duration.days(1) }),
      { missing: TreatMissingData.IGNORE },
    );
    tellTopic(this, config.alarmTopic, [this.endAlarm, this.refusedAlarm, this.checkAlarm]);
  }
}
