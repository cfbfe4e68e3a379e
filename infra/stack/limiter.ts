/** The table in which all functions count their requests to the upstream. */

import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { createTable } from './tables.ts';

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
  const table = createTable(scope, 'Budget', {
    expires: true,
    noBackups:
      'It holds how many requests were sent within the last minute: a backup of an earlier moment would be wrong, and the functions create a lost item again.',
    // With any `onRemoval`: what it holds is of no use two minutes later.
    removalPolicy: RemovalPolicy.DESTROY,
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
