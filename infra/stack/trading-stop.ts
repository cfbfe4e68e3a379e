/**
 * The stop that an alarm sets: a function that stops the gateway's trading, a rule that brings it the alarms that the
 * stage names, and alarms that it could not. Any other alarm of the account can name the function as its action.
 */

import { fileURLToPath } from 'node:url';
import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { historyPartition } from '../../functions/aws/dynamo-control-admin.ts';
import { massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { stackScope } from '../../lib/guard-rails/controls.ts';
import { allowing, GroupFunction, type GroupFunctionProps } from './group-function.ts';
import type { ResolvedStopOnAlarms } from './stop-on-alarms-config.ts';

export interface TradingStopProps extends Pick<GroupFunctionProps, 'logRetentionDays' | 'removalPolicy'> {
  readonly config: ResolvedStopOnAlarms;
  /** Limits and stops. */
  readonly controls: Table;
  readonly identityKeyArn: string;
  /** In place of `functions/trading-stop/handler.ts`. */
  readonly entry?: string;
}

/** What the function does to the table; a test compares it with its code. */
export const tradingStopActions = ['BatchGetItem', 'PutItem'];

/** Two operations of ten seconds each, and again when another change came between. */
const timeoutSeconds = 60;
/** Lambda waits a minute before the second try, and two before the third. */
const retryAttempts = 2;
/** What came no further by then is for a person: later, an operator may have resumed for good reason. */
const maxEventAge = Duration.minutes(15);

export class TradingStop extends Construct {
  /** May be an alarm's action, also of an alarm of another stack in the same account and Region. */
  readonly function: Lambda;
  /** Events of alarms that led to no stop. */
  readonly lost: Queue;
  readonly alarms: {
    /** A try failed; another may succeed. */
    readonly failed: Alarm;
    /** No try is left: trading goes on. */
    readonly lost: Alarm;
  };

  constructor(scope: Construct, id: string, props: TradingStopProps) {
    super(scope, id);
    this.lost = new Queue(this, 'Lost', {
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    Validations.of(this.lost).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is where failures end: what lies there is for a person, and an alarm says so.',
    });
    this.function = this.#function(props);
    this.function.configureAsyncInvoke({
      retryAttempts,
      maxEventAge,
      onFailure: { bind: () => ({ destination: this.lost.queueArn }) },
    });
    this.#letAlarmsInvoke();
    const { names } = props.config;
    if (names.length > 0) this.#rule(names);
    this.alarms = this.#alarms();
  }

  #function({ config, controls, identityKeyArn, entry = handler, ...rest }: TradingStopProps): Lambda {
    const { function: lambda } = new GroupFunction(this, 'Stop', {
      ...rest,
      title: 'Trading stop',
      purpose: 'stops trading for an alarm',
      entry,
      environment: {
        IDENTITY_KEY_SECRET_ID: identityKeyArn,
        TRADING_CONTROLS_TABLE: controls.tableName,
        ...(config.cancelOpen && { TRADING_STOP_CANCELS_OPEN: 'true' }),
      },
      policies: {
        ReadIdentityKey: allowing(['secretsmanager:GetSecretValue'], identityKeyArn),
        StopTrading: new PolicyDocument({ statements: [stopping(controls, config)] }),
        NoteLost: allowing(['sqs:SendMessage'], this.lost.queueArn),
      },
      timeoutSeconds,
      memoryMiB: 256,
      reservedConcurrency: config.reservedConcurrency,
    });
    return lambda;
  }

  #letAlarmsInvoke(): void {
    const stack = Stack.of(this);
    this.function.addPermission('Alarms', {
      principal: new ServicePrincipal('lambda.alarms.cloudwatch.amazonaws.com'),
      sourceAccount: stack.account,
      sourceArn: stack.formatArn({ service: 'cloudwatch', resource: 'alarm:*' }),
    });
  }

  #rule(names: readonly string[]): void {
    new Rule(this, 'Raised', {
      description: 'Stops trading when one of these alarms is raised',
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        // A bus can be opened to other accounts, which name their alarms themselves.
        account: [Stack.of(this).account],
        detail: { alarmName: [...names], state: { value: ['ALARM'] } },
      },
      targets: [new LambdaFunction(this.function, { maxEventAge, deadLetterQueue: this.lost })],
    });
  }

  #alarms(): TradingStop['alarms'] {
    const alarm = (id: string, alarmDescription: string, metric: IMetric) =>
      new Alarm(this, id, {
        alarmDescription,
        metric,
        threshold: 1,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    const period = Duration.minutes(1);
    return {
      failed: alarm(
        'FailedAlarm',
        'An alarm was to stop trading, and the function could not: trading goes on. Lambda tries again after one minute and after two. Stop with npm run trading -- stop; the log event trading_not_stopped says why.',
        this.function.metricErrors({ period }),
      ),
      lost: alarm(
        'LostAlarm',
        'An alarm was to stop trading, and did not: nothing tries again. Stop with npm run trading -- stop. The message in the queue is the event.',
        this.lost.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
      ),
    };
  }
}

/** What is set of accounts and users lies in other partitions. */
const stopping = ({ tableArn }: Table, { cancelOpen }: ResolvedStopOnAlarms): PolicyStatement =>
  new PolicyStatement({
    actions: tradingStopActions.map((action) => `dynamodb:${action}`),
    resources: [tableArn],
    conditions: {
      'ForAllValues:StringEquals': {
        'dynamodb:LeadingKeys': [stackScope, historyPartition, ...(cancelOpen ? [massCancelPartition] : [])],
      },
    },
  });

const handler = fileURLToPath(new URL('../../functions/trading-stop/handler.ts', import.meta.url));
