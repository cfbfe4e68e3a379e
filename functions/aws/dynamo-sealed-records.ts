/**
 * The common part of both operators' stores in DynamoDB: changes a sealed record together with a line of its history, and
 * lists records and lines. Lines share a partition, and their sort keys begin with the time.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { SealedLine } from '../../lib/access/sealed-lines.ts';
import { type StoreOptions, withLimit } from './dynamo-client.ts';
import { expression, query } from './dynamo-expressions.ts';
import { bytesOf, codec, type Item, isMet, pagesOf, queryAll, textOf } from './dynamo-items.ts';
import { isOvertaken, transact } from './dynamo-transaction.ts';

interface SealedRecordsOptions extends StoreOptions {
  readonly timeoutMs: number;
  /** The sort key of a record. */
  readonly recordKey: string;
  /** The partition of all lines. */
  readonly linePartition: string;
}

export function createSealedRecords(options: SealedRecordsOptions) {
  const { tableName: TableName, timeoutMs, recordKey, linePartition } = options;
  const client = withLimit(options.client, { timeoutMs, attempts: 3 });
  const line = codec<SealedLine>({ id: ['sk', textOf], sealed: ['sealed', bytesOf] }, { pk: linePartition });
  return {
    client,
    /** @returns false, and nothing is written, when another change came before */
    write: (items: TransactWriteItem[]): Promise<boolean> => isMet(transact(client, items), isOvertaken),
    lineItem: line.write,
    async records(): Promise<readonly Item[]> {
      const scan = {
        TableName,
        ConsistentRead: true,
        FilterExpression: 'sk = :record',
        ExpressionAttributeValues: { ':record': { S: recordKey } },
      };
      const found: Item[] = [];
      for await (const page of pagesOf((ExclusiveStartKey) =>
        client.send('Scan', { ...scan, ExclusiveStartKey }),
      ))
        found.push(...page);
      return found;
    },
    /** Reads lines, the newest first. */
    async lines(limit: number): Promise<readonly SealedLine[]> {
      const newest = { ConsistentRead: true, ScanIndexForward: false, Limit: limit };
      const items = await queryAll(client, query(TableName, expression`pk = ${linePartition}`, newest));
      return items.map(line.read);
    },
  };
}
