/** Transactions of DynamoDB, and the reasons why one was not written. */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import type { DynamoSender } from './dynamo-http.ts';
import { type Item, isUnmet } from './dynamo-items.ts';

/** Sends a transaction with one token for all attempts, so that one whose answer was lost is not made twice. */
export const transact = (client: DynamoSender, TransactItems: TransactWriteItem[]) =>
  client.send('TransactWriteItems', { TransactItems, ClientRequestToken: crypto.randomUUID() });

/** The failed condition of an item in a transaction. */
export interface Failure {
  /** The stored item; absent where there is none, or where the request did not ask for it. */
  readonly item?: Item | undefined;
}

/**
 * @returns for each item of the request, in its order, undefined or its failure; an empty list when no condition failed
 */
export function conditionFailures(error: unknown): readonly (Failure | undefined)[] {
  if (isUnmet(error)) return [{ item: error.Item }];
  const reasons = reasonsOf(error);
  if (!reasons.some(hasFailed)) return [];
  return reasons.map((reason) => (hasFailed(reason) ? { item: reason.Item } : undefined));
}

/** @throws TypeError for a failed condition without its item, because the stored item is not known then */
export function present(item: Item | undefined): Item {
  if (!item) throw new TypeError('DynamoDB did not say which item is in the way');
  return item;
}

/** Whether another request holds an item of this transaction; no condition has failed. */
export function isConflict(error: unknown): boolean {
  const { name = '' } = error as Cancelled;
  return (
    /^Transaction(Conflict|InProgress)Exception$/.test(name) || isCancelledFor(error, ['TransactionConflict'])
  );
}

/** Whether another write came first, or is under way. */
export const isOvertaken = (error: unknown): boolean =>
  reasonsOf(error).some((reason) => hasFailed(reason) || reason.Code === 'TransactionConflict');

interface Cancelled {
  readonly name?: string;
  readonly CancellationReasons?: readonly Reason[];
}

interface Reason {
  readonly Code?: string;
  readonly Item?: Item;
}

/** Whether a transaction was cancelled for one of the reasons; no condition has failed. */
export const isCancelledFor = (error: unknown, codes: readonly string[]): boolean => {
  const reasons = reasonsOf(error);
  return !reasons.some(hasFailed) && reasons.some(({ Code = '' }) => codes.includes(Code));
};

const hasFailed = ({ Code }: Reason) => Code === 'ConditionalCheckFailed';

/** Reasons for each item of a cancelled transaction; none for another error. */
const reasonsOf = (error: unknown): readonly Reason[] => {
  const { name, CancellationReasons = [] } = (
    error instanceof StoreThrottled ? (error.cause ?? error) : error
  ) as Cancelled;
  return name === 'TransactionCanceledException' ? CancellationReasons : [];
};
