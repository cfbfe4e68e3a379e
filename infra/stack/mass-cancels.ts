/**
 * The function that cancels what is open, when an operator or a failed check asks for it: started at once by the stream of
 * the table of limits and stops, and every minute until nothing is open any more.
 */

import { fileURLToPath } from 'node:url';
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument } from 'aws-cdk-lib/aws-iam';
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as Lambda,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { massCancelMetric } from '../../functions/log/order-metrics.ts';
import { cancelOrder } from '../../lib/catalogue/order-cancels.ts';
import { allowing, GroupFunction, type GroupFunctionProps } from './group-function.ts';
import type { OrderJournal } from './order-journal.ts';
import { inMassCancels } from './trading-controls.ts';

export interface MassCancelsProps
  extends Pick<
    GroupFunctionProps,
    | 'secretArn'
    | 'limiterTableArn'
    | 'cache'
    | 'environment'
    | 'reservedConcurrency'
    | 'logRetentionDays'
    | 'removalPolicy'
  > {
  /** Limits and stops, with a stream: requests lie in a partition of the table. */
  readonly controls: Table;
  /** Each cancel has an entry in it. */
  readonly journal: OrderJournal;
  readonly identityKeyArn: string;
  /** In place of `functions/mass-cancels/handler.ts`. */
  readonly entry?: string;
}

/** What the function does to requests beside asking for cancels; a test compares it with its code. */
export const massCancelActions = ['DeleteItem', 'Query'];

/** What Lambda does to the table's stream with the function's role. */
const streamActions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];

/** The next run starts then. */
const timeoutSeconds = 60;

/**
 * What is open is cancelled within a run, and the next list shows that it is: by then ten runs have tried. The age of the
 * request does not say that: a check that fails again and again makes it anew each time.
 */
const alarmAfterMinutes = 10;

export class MassCancels extends Construct {
  readonly function: Lambda;
  readonly alarms: {
    /** Orders of a scope have been open for ten minutes although they are to be cancelled, or nothing cancels them. */
    readonly open: Alarm;
    /** An order was blocked, and what is open could not be asked to be cancelled. */
    readonly notRequested: Alarm;
  };

  constructor(scope: Construct, id: string, props: MassCancelsProps) {
    super(scope, id);
    this.function = this.#function(props);
    this.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, 'Schedule', {
      description: 'Cancels what is open where an operator or a check asked for it',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.function, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
    this.#followRequests(props.controls);
    this.alarms = { open: this.#openAlarm(), notRequested: this.#notRequestedAlarm(props.controls) };
  }

  #function({ controls, journal, identityKeyArn, environment, entry, ...props }: MassCancelsProps): Lambda {
    const access = journal.accessOf([cancelOrder]);
    return new GroupFunction(this, 'Canceller', {
      ...props,
      title: 'Mass cancels',
      purpose: 'cancels what is open when an operator or a check asks for it',
      entry: entry ?? handler,
      environment: {
        ...environment,
        ...access?.variables,
        IDENTITY_KEY_SECRET_ID: identityKeyArn,
        TRADING_CONTROLS_TABLE: controls.tableName,
      },
      policies: {
        ...access?.policies,
        ReadIdentityKey: allowing(['secretsmanager:GetSecretValue'], identityKeyArn),
        FinishMassCancels: new PolicyDocument({ statements: [inMassCancels(massCancelActions, controls)] }),
        ReadStream: allowing(
          streamActions.map((action) => `dynamodb:${action}`),
          controls.tableStreamArn ?? '',
        ),
      },
      timeoutSeconds,
      memoryMiB: 256,
    }).function;
  }

  /** It only wakes the function, which reads all requests: what the stream loses, the next minute finds. */
  #followRequests({ tableStreamArn = '' }: Table): void {
    new EventSourceMapping(this, 'Requests', {
      target: this.function,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.LATEST,
      batchSize: 100,
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.or('INSERT', 'MODIFY'),
          dynamodb: { Keys: { pk: { S: FilterRule.isEqual(massCancelPartition) } } },
        }),
      ],
      retryAttempts: 0,
    });
  }

  #openAlarm(): Alarm {
    return new Alarm(this, 'OpenAlarm', {
      alarmDescription:
        'For ten minutes orders have been open that an operator or a check asked to cancel, or it is not known whether any are; or the function that cancels them does not run. Its log says why, as open_order_not_cancelled.',
      metric: new Metric({
        namespace: 'Countersign',
        metricName: 'MassCancelSeconds',
        dimensionsMap: { Function: this.function.functionName },
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: alarmAfterMinutes,
      // It says something each minute.
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  #notRequestedAlarm({ tableName }: Table): Alarm {
    return new Alarm(this, 'NotRequestedAlarm', {
      alarmDescription:
        'A check whose action is block_and_cancel blocked an order, and the request to cancel what is open could not be written: nothing is cancelled. The log event mass_cancel_not_requested says why.',
      metric: new Metric({
        namespace: 'Countersign',
        metricName: massCancelMetric.name,
        dimensionsMap: { [massCancelMetric.dimension]: tableName },
        statistic: 'Sum',
        period: Duration.minutes(5),
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}

const handler = fileURLToPath(new URL('../../functions/mass-cancels/handler.ts', import.meta.url));
