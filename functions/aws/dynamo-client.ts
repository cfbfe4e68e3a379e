/**
 * The DynamoDB client for the stores of a function: all share one client, because of its connections, and each adds time
 * limits and attempts of its own.
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
  /** Time limit of one operation with all its attempts, in milliseconds. Each store's default is what its callers can wait. */
  readonly timeoutMs?: number;
}

export interface SharedStoreOptions extends StoreOptions {
  /** Name of the sharers of the items: an upstream, or for snapshots an operation of one of its accounts (`storePartition`). */
  readonly partition: string;
}

export interface SealedStoreOptions extends StoreOptions {
  /** Encrypts contents, which name accounts and orders. */
  readonly sealer: Sealer;
}

export interface SendLimit {
  /** Time limit of one operation with all its attempts. */
  readonly timeoutMs: number;
  /** Most attempts; another one is made when DynamoDB throttles, fails, or cannot be reached. Default 1. */
  readonly attempts?: number;
  /** Whether another error is temporary, too. Default none is. */
  readonly alsoPasses?: (error: unknown) => boolean;
  /** Errors that pass sooner, with attempts and pauses of their own. */
  readonly conflicts?: {
    readonly isOne: (error: unknown) => boolean;
    readonly attempts: number;
    readonly pauses: BackOff;
  };
}

/** Pauses before further attempts, up to 100 ms before the second, at random so that instances do not repeat together. */
const pauses: BackOff = { firstMs: 100, maxMs: 2000 };

/**
 * Wraps a client so that operations end within a time limit, which covers the last byte, too, unlike the client's own
 * limit. They reject as a store's port does: see `asStoreError`.
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

/** Whether the same operation may succeed a moment later, because AWS did not call it wrong. */
export const mayPass = (error: unknown) =>
  isThrottling(error) || (error as { readonly $fault?: string }).$fault !== 'client';

/**
 * DynamoDB's error names for too many requests: above the partition's units, the rate of the API, or the account's quota.
 * The last two are those of an item in a transaction.
 */
const throttlingNames: readonly string[] = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
];

/** Whether the store refused a request because it gets too many; also true for a `StoreThrottled` itself. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof StoreThrottled ||
  (error instanceof Error &&
    (throttlingNames.includes(error.name) || isCancelledFor(error, throttlingNames)));

/** The error of a store's port: `StoreThrottled` for a throttled request, any other error unchanged. */
export const asStoreError = (error: unknown): unknown =>
  isThrottling(error) && !(error instanceof StoreThrottled) ? new StoreThrottled(error) : error;
