/**
 * The journal of orders: a table that says of each order what was asked for, and what became of it, and the alarm that it
 * fails. It is there where an open group changes orders or watchlists, and no setting does without it: no entry, no order.
 */

import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { PolicyDocument } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import {
  begunAttribute,
  exposedAttribute,
  exposedIndex,
  unsettledAttribute,
  unsettledIndex,
} from '../../functions/aws/dynamo-order-entries.ts';
import { journalMetric } from '../../functions/log/order-metrics.ts';
import type { Operation } from '../../lib/catalogue/index.ts';
import { areJournaled } from '../../lib/gateway/look-ups.ts';
import { allowing } from './group-function.ts';

/** What one function has of it. */
export interface JournalAccess {
  /** By the policy's name. */
  readonly policies: Readonly<Record<string, PolicyDocument>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** What a function does to the table that sends orders; a test compares it with its code. A transaction puts and updates items, too. */
export const journalActions = ['BatchGetItem', 'PutItem', 'UpdateItem'];

export class OrderJournal extends Construct {
  readonly table: Table;
  /** A function cannot write or read an entry: orders are refused, or stay unsettled. */
  readonly alarm: Alarm;

  constructor(scope: Construct, id: string, { removalPolicy }: { readonly removalPolicy: RemovalPolicy }) {
    super(scope, id);
    this.table = journalTable(this, removalPolicy);
    this.alarm = new Alarm(this, 'FailedAlarm', {
      alarmDescription:
        'The journal of orders cannot be written or read: orders are refused with journal_unavailable and not sent, cancels are sent. The log event journal_failed says why.',
      metric: new Metric({
        namespace: 'Countersign',
        metricName: journalMetric.name,
        dimensionsMap: { [journalMetric.dimension]: this.table.tableName },
        statistic: 'Sum',
        period: Duration.minutes(5),
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /** @returns undefined for a function none of whose requests have an entry */
  accessOf(operations: readonly Operation[]): JournalAccess | undefined {
    if (!areJournaled(operations)) return undefined;
    return {
      policies: {
        KeepJournal: allowing(
          journalActions.map((action) => `dynamodb:${action}`),
          this.table.tableArn,
        ),
      },
      variables: { ORDER_JOURNAL_TABLE: this.table.tableName },
    };
  }
}

function journalTable(scope: Construct, removalPolicy: RemovalPolicy): Table {
  const table = new Table(scope, 'Table', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    // Of entries by Idempotency-Key alone: those of orders stay.
    timeToLiveAttribute: 'expires_at',
    // No fixed cost, and no figure to outgrow.
    billingMode: BillingMode.PAY_PER_REQUEST,
    // Without an entry its order could be sent a second time.
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
    stream: StreamViewType.NEW_AND_OLD_IMAGES,
    removalPolicy,
  });
  // DynamoDB adds one index in an update of a table: a third one is a deployment of its own.
  for (const [indexName, name] of [
    [unsettledIndex, unsettledAttribute],
    [exposedIndex, exposedAttribute],
  ] as const)
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: { name, type: AttributeType.STRING },
      sortKey: { name: begunAttribute, type: AttributeType.NUMBER },
      projectionType: ProjectionType.KEYS_ONLY,
    });
  return table;
}
