/** DynamoDB's tables, all of them with the key that the functions' stores share. */

import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, BillingMode, type StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

interface TableOptions {
  /** Whether items have a sort key `sk` beside their partition `pk`. */
  readonly isSorted?: boolean;
  /** Whether items go by themselves at their `expires_at`. */
  readonly expires?: boolean;
  /** With `retain` it cannot be deleted by hand either. */
  readonly isProtected?: boolean;
  /** In place of backups: the sentence that says why there are none. */
  readonly noBackups?: string;
  readonly stream?: StreamViewType;
  readonly removalPolicy: RemovalPolicy;
}

export function createTable(
  scope: Construct,
  id: string,
  { isSorted, expires, isProtected, noBackups, stream, removalPolicy }: TableOptions,
): Table {
  const table = new Table(scope, id, {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    ...(isSorted && { sortKey: { name: 'sk', type: AttributeType.STRING } }),
    ...(expires && { timeToLiveAttribute: 'expires_at' }),
    // No fixed cost, and no figure to outgrow.
    billingMode: BillingMode.PAY_PER_REQUEST,
    ...(!noBackups && { pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true } }),
    ...(isProtected && { deletionProtection: removalPolicy === RemovalPolicy.RETAIN }),
    ...(stream && { stream }),
    removalPolicy,
  });
  if (noBackups) Validations.of(table).acknowledge({ id: 'AwsSolutions-DDB3', reason: noBackups });
  return table;
}

/** @param actions of DynamoDB, without its prefix */
export const allowTable = (actions: readonly string[], ...resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [...resources],
  });

/** What Lambda does to a table's stream with the function's role. */
export const allowStream = ({ tableStreamArn = '' }: Table): PolicyStatement =>
  allowTable(['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'], tableStreamArn);
