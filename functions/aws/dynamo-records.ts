/** What operators' stores share: pages of items, and writes that another operator's came before. */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item } from './dynamo-batch-get.ts';

interface Page {
  readonly Items?: Record<string, AttributeValue>[] | undefined;
  readonly LastEvaluatedKey?: Record<string, AttributeValue> | undefined;
}

/** As many items as wanted, or all. */
export async function pages(
  read: (start: Record<string, AttributeValue> | undefined) => Promise<Page>,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let start: Record<string, AttributeValue> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await read(start);
    items.push(...Items);
    start = LastEvaluatedKey;
  } while (start && items.length < limit);
  return items.slice(0, limit);
}

/** Another operator's write came first, or is being done now. */
export function isOvertaken(error: unknown): boolean {
  const { name, CancellationReasons: reasons = [] } = error as {
    readonly name?: string;
    readonly CancellationReasons?: readonly { readonly Code?: string }[];
  };
  return (
    name === 'TransactionCanceledException' &&
    reasons.some(({ Code }) => Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict')
  );
}
