/**
 * Changes of counters and of exposures as updates of a transaction. A counter is an item of the journal's table: its key,
 * the revision of its last change, and its state as text.
 */

import type { StoredCounter } from '../../lib/guard-rails/counter.ts';
import type { CountedChanges, Stale } from '../../lib/orders/journal.ts';
import { expression, isRevision, set, tellsItem, update } from './dynamo-expressions.ts';
import { codec, numberOf, seconds, textOf } from './dynamo-items.ts';
import { exposedAs } from './dynamo-order-entries.ts';
import { type Failure, present } from './dynamo-transaction.ts';

/** The last change of each item: a transaction may contain an item only once. */
export const oncePerItem = ({ counters, exposures }: CountedChanges): CountedChanges => ({
  counters: [...new Map(counters.map((one) => [one.key, one])).values()],
  exposures: [...new Map(exposures.map((one) => [one.key, one])).values()],
});

/** Updates of counters, then of exposures: `staleIn` expects their results in this order. */
export const updatesOf = ({ counters, exposures }: CountedChanges, tableName: string) => [
  ...counters.map(({ key, revision, next, expiresAt }) => ({
    ...update(
      tableName,
      { pk: key },
      set({ state: next, revision: revision + 1, expires_at: expiresAt && seconds(expiresAt) }),
      isRevision(revision),
    ),
    // A failed update returns the current counter, so that the next try needs no read.
    ...tellsItem,
  })),
  ...exposures.map(({ key, attempt, before, next, state }) => {
    const asRead =
      before === undefined ? expression`attribute_not_exists(exposure)` : expression`exposure = ${before}`;
    const isOwn = expression`attempt = ${attempt} AND ${asRead}`;
    return update(
      tableName,
      { pk: key },
      next === undefined ? expression`REMOVE exposure, exposed` : set(exposedAs(next)),
      state ? expression`${isOwn} AND #state = ${state}` : isOwn,
    );
  }),
];

/** @returns undefined when nothing had changed since it was read */
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

/** Reads a counter; throws a TypeError for another item. */
export const { read: toCounter } = codec<StoredCounter>({
  key: ['pk', textOf],
  revision: ['revision', numberOf],
  state: ['state', textOf],
});
