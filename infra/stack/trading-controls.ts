/**
 * What operators set of trading: a table of limits and stops, and the alarm that it cannot be read. It is there where an
 * open operation places or replaces orders, and no setting does without it: the kill switch is for every stage.
 */

import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, BillingMode, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { controlsMetric } from '../../functions/log/order-metrics.ts';
import { isGuarded, type Operation } from '../../lib/catalogue/operation.ts';
import type { TradingLimits } from '../../lib/guard-rails/limits.ts';
import { allowing } from './group-function.ts';

export interface TradingControlsProps {
  /** The gateway's limits, until an operator sets others. */
  readonly limits: TradingLimits;
  readonly removalPolicy: RemovalPolicy;
}

/** What one function has of it. */
export interface ControlsAccess {
  /** By the policy's name. */
  readonly policies: Readonly<Record<string, PolicyDocument>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** What a function does to the table; a test compares it with its code. */
export const controlsActions = ['BatchGetItem'];
/** The same where it asks that what is open be cancelled, in the partition of such requests alone. */
export const massCancelRequestActions = ['PutItem'];

export class TradingControls extends Construct {
  readonly table: Table;
  readonly limits: TradingLimits;
  /** A function cannot read limits and stops: it places nothing. */
  readonly alarm: Alarm;

  constructor(scope: Construct, id: string, { limits, removalPolicy }: TradingControlsProps) {
    super(scope, id);
    this.limits = limits;
    this.table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      // No fixed cost, and no figure to outgrow.
      billingMode: BillingMode.PAY_PER_REQUEST,
      // What an operator set, and why, is nowhere else.
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
      // It says that something is to be cancelled, and where; what that is, the table says.
      stream: StreamViewType.KEYS_ONLY,
      removalPolicy,
    });
    this.alarm = new Alarm(this, 'NotReadAlarm', {
      alarmDescription:
        'Limits and stops of trading cannot be read: orders are refused with trading_limits_unavailable and not sent, cancels are sent. The log event trading_controls_not_read says why.',
      metric: new Metric({
        namespace: 'Countersign',
        metricName: controlsMetric.name,
        dimensionsMap: { [controlsMetric.dimension]: this.table.tableName },
        statistic: 'Sum',
        period: Duration.minutes(5),
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /** @returns undefined for a function that neither places nor replaces orders */
  accessOf(operations: readonly Operation[]): ControlsAccess | undefined {
    if (!operations.some(isGuarded)) return undefined;
    return {
      policies: {
        ReadTradingControls: allowing(
          controlsActions.map((action) => `dynamodb:${action}`),
          this.table.tableArn,
        ),
        AskToCancel: new PolicyDocument({
          statements: [inMassCancels(massCancelRequestActions, this.table)],
        }),
      },
      variables: {
        TRADING_CONTROLS_TABLE: this.table.tableName,
        TRADING_LIMITS: JSON.stringify(this.limits),
      },
    };
  }
}

/** Limits and stops lie in other partitions: no function can change them. */
export const inMassCancels = (actions: readonly string[], { tableArn }: Table): PolicyStatement =>
  new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [tableArn],
    conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [massCancelPartition] } },
  });
