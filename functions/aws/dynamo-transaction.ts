/** Transactions of DynamoDB, and what became of one that was not written, by its error. */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import type { DynamoSender } from './dynamo-http.ts';
import { type Item, isUnmet } from './dynamo-items.ts';

/** Its token is the same with each attempt: one whose answer was lost is not done twice. */
export const transact = (client: DynamoSender, TransactItems: TransactWriteItem[]) =>
  client.send('TransactWriteItems', { TransactItems, ClientRequestToken: crypto.randomUUID() });

/** An item whose condition was not met. */
export interface Failure {
  /** What stands there; absent where nothing does, or where it was not asked for. */
  readonly item?: Item | undefined;
}

/**
 * @returns for each item of the request, in its order, undefined or how it failed; nothing at all when no condition failed
 */
export function conditionFailures(error: unknown): readonly (Failure | undefined)[] {
  if (isUnmet(error)) return [{ item: error.Item }];
  const reasons = reasonsOf(error);
  if (!reasons.some(hasFailed)) return [];
  return reasons.map((reason) => (hasFailed(reason) ? { item: reason.Item } : undefined));
}

/** @throws TypeError for a failed condition without its item: what stands there is not known */
export function present(item: Item | undefined): Item {
  if (!item) throw new TypeError('DynamoDB did not say which item is in the way');
  return item;
}

/** Another request has an item of this one; no condition has failed. */
export function isConflict(error: unknown): boolean {
  const { name = '' } = error as Cancelled;
  return (
    /^Transaction(Conflict|InProgress)Exception$/.test(name) || isCancelledFor(error, ['TransactionConflict'])
  );
}

/** Another write came first, or is being done now. */
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

/** One of these is the reason of a cancelled transaction; no condition has failed. */
export const isCancelledFor = (error: unknown, codes: readonly string[]): boolean => {
  const reasons = reasonsOf(error);
  return !reasons.some(hasFailed) && reasons.some(({ Code = '' }) => codes.includes(Code));
};

const hasFailed = ({ Code }: Reason) => Code === 'ConditionalCheckFailed';

/** One for each item of a transaction that DynamoDB cancelled; none of another error. */
const reasonsOf = (error: unknown): readonly Reason[] => {
  const { name, CancellationReasons = [] } = (
    error instanceof StoreThrottled ? (error.cause ?? error) : error
  ) as Cancelled;
  return name === 'TransactionCanceledException' ? CancellationReasons : [];
};
