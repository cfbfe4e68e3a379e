/** The function that settles orders whose outcome stayed unknown: started every minute, and by trade events of orders. */

import { fileURLToPath } from 'node:url';
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { exposedIndex, unsettledIndex } from '../../functions/aws/dynamo-order-entries.ts';
import { allowing, GroupFunction, type GroupFunctionProps } from './group-function.ts';

export interface OrderSettlementProps
  extends Pick<
    GroupFunctionProps,
    'secretArn' | 'limiterTableArn' | 'environment' | 'logRetentionDays' | 'removalPolicy'
  > {
  readonly journal: Table;
  readonly identityKeyArn: string;
  /** In place of `functions/order-settlement/handler.ts`. */
  readonly entry?: string;
}

/** What the function does to the journal and to its indexes; a test compares it with its code. */
export const settlementActions = ['BatchGetItem', 'UpdateItem'];
export const settlementIndexActions = ['Query'];

/** The next run starts then. */
const timeoutSeconds = 60;

/**
 * A look-up that finds nothing counts ten minutes after the last moment of sending; look-ups of orders are one a second
 * under the published limits, so that some hundred unknown orders are settled five minutes later.
 */
const alarmAfterSeconds = 20 * 60;

export class OrderSettlement extends Construct {
  readonly function: Lambda;
  readonly alarms: {
    /** An order's outcome has been unknown for twenty minutes, or nothing settles any. */
    readonly unknown: Alarm;
  };

  constructor(scope: Construct, id: string, props: OrderSettlementProps) {
    super(scope, id);
    const { journal, identityKeyArn, environment, entry = handler, ...rest } = props;
    this.function = new GroupFunction(this, 'Settlement', {
      ...rest,
      title: 'Order settlement',
      purpose: 'finds out what became of orders whose answer was lost',
      entry,
      environment: {
        ...environment,
        IDENTITY_KEY_SECRET_ID: identityKeyArn,
        ORDER_JOURNAL_TABLE: journal.tableName,
      },
      policies: {
        ReadIdentityKey: allowing(['secretsmanager:GetSecretValue'], identityKeyArn),
        Settle: new PolicyDocument({
          statements: [
            allow(settlementActions, journal.tableArn),
            allow(
              settlementIndexActions,
              ...[unsettledIndex, exposedIndex].map((index) => `${journal.tableArn}/index/${index}`),
            ),
          ],
        }),
      },
      timeoutSeconds,
      memoryMiB: 256,
    }).function;
    this.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, 'Schedule', {
      description: 'Settles orders whose outcome is unknown',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [this.target()],
    });
    this.alarms = { unknown: this.#alarm() };
  }

  /** For rules that bring it events of orders. What it misses, its next run finds. */
  target(): LambdaFunction {
    return new LambdaFunction(this.function, { retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  }

  #alarm(): Alarm {
    return new Alarm(this, 'UnknownAlarm', {
      alarmDescription:
        'The outcome of an order has been unknown for twenty minutes, or the function that settles orders does not run. Its log says why, as order_not_read; npm run orders -- audit names the order.',
      metric: new Metric({
        namespace: 'Countersign',
        metricName: 'OrdersUnknownSeconds',
        dimensionsMap: { Function: this.function.functionName },
        statistic: 'Maximum',
        period: Duration.minutes(5),
      }),
      threshold: alarmAfterSeconds,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      // It says something each minute.
      treatMissingData: TreatMissingData.BREACHING,
    });
  }
}

const allow = (actions: readonly string[], ...resources: readonly string[]) =>
  new PolicyStatement({
    effect: Effect.ALLOW,
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [...resources],
  });

const handler = fileURLToPath(new URL('../../functions/order-settlement/handler.ts', import.meta.url));
