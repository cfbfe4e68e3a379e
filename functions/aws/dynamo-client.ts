/**
 * The DynamoDB client of a function, as its stores see it: one for all of them, for its connections' sake, and each
 * through a limit of its own.
 */

import { type BackOff, jitteredMs, sleep, within } from '../../lib/kernel/pauses.ts';
import type { Sealer } from '../../lib/kernel/sealer.ts';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import type { DynamoSender } from './dynamo-http.ts';
import { isCancelledFor } from './dynamo-transaction.ts';

export { createDynamoClient, type DynamoSender } from './dynamo-http.ts';

export interface StoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For one operation with all its attempts, in milliseconds. Its default, at each store, is what its callers can wait. */
  readonly timeoutMs?: number;
}

export interface SharedStoreOptions extends StoreOptions {
  /** Names what shares the items: an upstream, or for snapshots an operation of one of its accounts (`storePartition`). */
  readonly partition: string;
}

export interface SealedStoreOptions extends StoreOptions {
  /** For contents: they name accounts and orders. */
  readonly sealer: Sealer;
}

export interface SendLimit {
  /** For one operation with all its attempts. */
  readonly timeoutMs: number;
  /** Default 1. Another is made when DynamoDB throttles, fails, or cannot be reached. */
  readonly attempts?: number;
  /** Which other errors may pass. Default none. */
  readonly alsoPasses?: (error: unknown) => boolean;
  /** What passes sooner than these: its attempts and pauses are its own. */
  readonly conflicts?: {
    readonly isOne: (error: unknown) => boolean;
    readonly attempts: number;
    readonly pauses: BackOff;
  };
}

/** Before the second attempt up to 100 ms, chosen at random so that instances do not repeat together. */
const pauses: BackOff = { firstMs: 100, maxMs: 2000 };

/**
 * The same client, whose operations end within a time: to the last byte, as the client's own limit does not. They reject as
 * a store's port does: see `asStoreError`.
 */
export function withLimit(
  client: DynamoSender,
  { timeoutMs, attempts = 1, alsoPasses = () => false, conflicts }: SendLimit,
): DynamoSender {
  const repeated = async <T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    let [failures, met] = [0, 0];
    for (;;)
      try {
        return await send();
      } catch (error) {
        if (signal.aborted) throw error;
        if (conflicts?.isOne(error)) {
          if (++met >= conflicts.attempts) throw error;
          await sleep(jitteredMs(conflicts.pauses, met - 1, Math.random));
          continue;
        }
        const mayRepeat = mayPass(error) || alsoPasses(error);
        if (++failures >= attempts || !mayRepeat) throw error;
        await sleep(jitteredMs(pauses, failures - 1, Math.random));
      }
  };
  return {
    send(operation, input) {
      const late = new AbortController();
      const abortSignal = late.signal;
      const work = repeated(() => client.send(operation, input, { abortSignal }), abortSignal);
      return within(work, timeoutMs).catch((error: unknown) => {
        late.abort();
        throw asStoreError(error);
      });
    },
  };
}

/** Whether the same operation may succeed a moment later: DynamoDB refused nothing in it. */
const mayPass = (error: unknown) =>
  isThrottling(error) || (error as { readonly $fault?: string }).$fault !== 'client';

/**
 * DynamoDB's names for too many requests: above the partition's units, above the rate of the API, above the account's
 * quota. The last two are those of an item of a transaction.
 */
const throttlingNames: readonly string[] = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
];

/** Whether the store refused a request because it gets too many; also true of a `StoreThrottled` itself. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof StoreThrottled ||
  (error instanceof Error &&
    (throttlingNames.includes(error.name) || isCancelledFor(error, throttlingNames)));

/** What a store's port rejects with: `StoreThrottled` for a throttled request, any other error as it is. */
export const asStoreError = (error: unknown): unknown =>
  isThrottling(error) && !(error instanceof StoreThrottled) ? new StoreThrottled(error) : error;
