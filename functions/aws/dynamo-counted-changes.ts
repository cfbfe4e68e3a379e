/**
 * Changes of counters and of exposures as updates of a transaction. A counter is an item of the journal's table: its key,
 * the revision of its last change, and its state as text.
 */

import type { Update } from '@aws-sdk/client-dynamodb';
import type { StoredCounter } from '../../lib/guard-rails/counter.ts';
import type { CountedChanges, ExposureChange, Stale } from '../../lib/orders/journal.ts';
import { type Item, number, numberOf, textOf } from './dynamo-items.ts';
import { exposedAttribute, exposedOrders, exposureAttribute } from './dynamo-order-entries.ts';
import { type Failure, present } from './dynamo-transaction.ts';

/** Each item once, as a transaction wants it: of several changes of one item the last counts. */
export const oncePerItem = ({ counters, exposures }: CountedChanges): CountedChanges => ({
  counters: [...new Map(counters.map((one) => [one.key, one])).values()],
  exposures: [...new Map(exposures.map((one) => [one.key, one])).values()],
});

/** Counters first, then exposures: `staleIn` takes what became of them in that order. */
export const updatesOf = (
  { counters, exposures }: CountedChanges,
  tableName: string,
): readonly (Update & { readonly TableName: string })[] => [
  ...counters.map(({ key, revision, next, expiresAt }) => ({
    TableName: tableName,
    Key: { pk: { S: key } },
    UpdateExpression: `SET #state = :next, revision = :changed${expiresAt === undefined ? '' : ', expires_at = :expires'}`,
    ConditionExpression: 'attribute_not_exists(pk) OR revision = :read',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':next': { S: next },
      ':changed': number(revision + 1),
      ':read': number(revision),
      ...(expiresAt !== undefined && { ':expires': number(Math.ceil(expiresAt / 1000)) }),
    },
    // It says how the counter is now: no read before the next try.
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  })),
  ...exposures.map((change) => ({
    TableName: tableName,
    Key: { pk: { S: change.key } },
    ...expressionsOf(change),
  })),
];

function expressionsOf({ attempt, before, next, state }: ExposureChange) {
  const values = {
    ':attempt': { S: attempt },
    ...(state && { ':state': { S: state } }),
    ...(before !== undefined && { ':before': { S: before } }),
    ...(next !== undefined && { ':next': { S: next }, ':exposed': { S: exposedOrders } }),
  };
  const asRead =
    before === undefined ? `attribute_not_exists(${exposureAttribute})` : `${exposureAttribute} = :before`;
  return {
    UpdateExpression:
      next === undefined
        ? `REMOVE ${exposureAttribute}, ${exposedAttribute}`
        : `SET ${exposureAttribute} = :next, ${exposedAttribute} = :exposed`,
    ConditionExpression: `attempt = :attempt AND ${asRead}${state ? ' AND #state = :state' : ''}`,
    ...(state && { ExpressionAttributeNames: { '#state': 'state' } }),
    ExpressionAttributeValues: values,
  };
}

/** @returns undefined when all was as it was read */
export function staleIn(
  { counters }: CountedChanges,
  failures: readonly (Failure | undefined)[],
): Stale | undefined {
  if (failures.every((failure) => failure === undefined)) return undefined;
  return {
    counters: failures
      .slice(0, counters.length)
      .flatMap((failure) => (failure ? [toCounter(present(failure.item))] : [])),
    exposures: failures.slice(counters.length).some((failure) => failure !== undefined),
  };
}

/** @throws TypeError for what is no counter */
export const toCounter = (item: Item): StoredCounter => ({
  key: textOf(item, 'pk'),
  revision: numberOf(item, 'revision'),
  state: textOf(item, 'state'),
});
