/**
 * What both stores of operators do in DynamoDB: change a sealed record together with a line of its history, and list
 * records and lines. Lines share a partition, and their sort keys begin with the time.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { SealedLine } from '../../lib/access/sealed-lines.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { absent, bytesOf, type Item, pages, queryAll, textOf } from './dynamo-items.ts';
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
  return {
    client,
    /** @returns false, and nothing is written, when another change came before */
    async write(TransactItems: TransactWriteItem[]): Promise<boolean> {
      try {
        await transact(client, TransactItems);
        return true;
      } catch (error) {
        if (isOvertaken(error)) return false;
        throw error;
      }
    },
    lineItem: ({ id, sealed }: SealedLine): Item => ({
      pk: { S: linePartition },
      sk: { S: id },
      sealed: { B: sealed },
    }),
    records: (): Promise<readonly Item[]> =>
      pages((ExclusiveStartKey) =>
        client.send('Scan', {
          TableName,
          ConsistentRead: true,
          FilterExpression: 'sk = :record',
          ExpressionAttributeValues: { ':record': { S: recordKey } },
          ExclusiveStartKey,
        }),
      ),
    /** The newest first. */
    async lines(limit: number): Promise<readonly SealedLine[]> {
      const items = await queryAll(client, {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :lines',
        ExpressionAttributeValues: { ':lines': { S: linePartition } },
        ScanIndexForward: false,
        Limit: limit,
      });
      return items.map((item) => ({ id: textOf(item, 'sk'), sealed: bytesOf(item, 'sealed') }));
    },
  };
}

/** @param expected what the attribute has in the table; undefined for a record that is not there */
export const unchangedSince = (attribute: string, expected: Item[string] | undefined) =>
  expected === undefined
    ? absent
    : {
        ConditionExpression: '#attribute = :expected',
        ExpressionAttributeNames: { '#attribute': attribute },
        ExpressionAttributeValues: { ':expected': expected },
      };
