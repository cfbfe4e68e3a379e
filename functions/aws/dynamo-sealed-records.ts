/**
 * What both stores of operators do in DynamoDB: change a sealed record together with a line of its history, and list
 * records and lines. Lines share a partition, and their sort keys begin with the time.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { SealedLine } from '../../lib/access/sealed-lines.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { expression, query } from './dynamo-expressions.ts';
import { bytes, codec, firstOf, type Item, isMet, pagesOf, queryAll, text } from './dynamo-items.ts';
import { isOvertaken, transact } from './dynamo-transaction.ts';

export interface SealedRecordsOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  readonly timeoutMs: number;
  /** The sort key of a record. */
  readonly recordKey: string;
  /** The partition of all lines. */
  readonly linePartition: string;
}

export function createSealedRecords(options: SealedRecordsOptions) {
  const { tableName: TableName, timeoutMs, recordKey, linePartition } = options;
  const client = withLimit(options.client, { timeoutMs, attempts: 3 });
  const line = codec<SealedLine>({ id: text('sk'), sealed: bytes('sealed') }, { pk: linePartition });
  return {
    client,
    /** @returns false, and nothing is written, when another change came before */
    write: (items: TransactWriteItem[]): Promise<boolean> => isMet(transact(client, items), isOvertaken),
    lineItem: line.write,
    records: (): Promise<readonly Item[]> =>
      firstOf(
        pagesOf((ExclusiveStartKey) =>
          client.send('Scan', {
            TableName,
            ConsistentRead: true,
            FilterExpression: 'sk = :record',
            ExpressionAttributeValues: { ':record': { S: recordKey } },
            ExclusiveStartKey,
          }),
        ),
      ),
    /** The newest first. */
    async lines(limit: number): Promise<readonly SealedLine[]> {
      const newest = { ConsistentRead: true, ScanIndexForward: false, Limit: limit };
      const items = await queryAll(client, query(TableName, expression`pk = ${linePartition}`, newest));
      return items.map(line.read);
    },
  };
}
