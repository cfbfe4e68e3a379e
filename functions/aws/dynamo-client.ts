/**
 * The DynamoDB client of a function: one for all its stores, since making one is a good part of a cold start.
 * Each store sees it through a limit of its own.
 */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { StoreTime } from '../../lib/guard-rails/store-time.ts';
import { type BackOff, jitteredMs } from '../../lib/pauses.ts';
import { StoreThrottled } from '../../lib/store-throttled.ts';

/** What a store needs of the client. */
export type DynamoSender = Pick<DynamoDBClient, 'send'>;

/**
 * A client that sends once and waits as long as it is let: see `withLimit`.
 * @param endpoint in place of the Region's; otherwise the client reads AWS_ENDPOINT_URL itself
 * @param time is told how the store dates its answers
 */
export function createDynamoClient(endpoint?: string, time?: StoreTime): DynamoDBClient {
  const client = new DynamoDBClient({ maxAttempts: 1, ...(endpoint !== undefined && { endpoint }) });
  if (time)
    client.middlewareStack.add(
      (next) => async (call) => {
        const askedAt = Date.now();
        const answered = await next(call);
        const { headers } = answered.response as { readonly headers?: Readonly<Record<string, string>> };
        time.dated(Date.parse(headers?.date ?? ''), askedAt, Date.now());
        return answered;
      },
      { step: 'deserialize', priority: 'low' },
    );
  return client;
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

/** The same client, whose operations end within a time: to the last byte, as the client's own limit does not. */
export function withLimit(
  client: DynamoSender,
  { timeoutMs, attempts = 1, alsoPasses = () => false, conflicts }: SendLimit,
): DynamoSender {
  const send = client.send.bind(client) as (command: unknown, options: object) => Promise<unknown>;
  const repeated = async (command: unknown, abortSignal: AbortSignal) => {
    let [failures, met] = [0, 0];
    for (;;)
      try {
        return await send(command, { abortSignal });
      } catch (error) {
        if (abortSignal.aborted) throw error;
        if (conflicts?.isOne(error)) {
          if (++met >= conflicts.attempts) throw error;
          await pause(jitteredMs(conflicts.pauses, met - 1, Math.random));
          continue;
        }
        const mayRepeat = mayPass(error) || alsoPasses(error);
        if (++failures >= attempts || !mayRepeat) throw error;
        await pause(jitteredMs(pauses, failures - 1, Math.random));
      }
  };
  const limited = (command: unknown) => inTime(timeoutMs, (signal) => repeated(command, signal));
  return { send: limited as DynamoSender['send'] };
}

/** Whether the same operation may succeed a moment later: DynamoDB refused nothing in it. */
const mayPass = (error: unknown) =>
  isThrottling(error) || (error as { readonly $fault?: string }).$fault !== 'client';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function inTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort();
      reject(new Error(`DynamoDB gave no answer within ${ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** By which DynamoDB refuses a request because it gets too many: above the partition's units, above the rate of the API, above the account's quota. */
const throttlingNames: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
]);

/** Whether the store refused a request because it gets too many; also true of a `StoreThrottled` itself. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof StoreThrottled || (error instanceof Error && throttlingNames.has(error.name));

/** What a store's port rejects with: `StoreThrottled` for a throttled request, any other error as it is. */
export const asStoreError = (error: unknown): unknown =>
  isThrottling(error) && !(error instanceof StoreThrottled) ? new StoreThrottled(error) : error;

/** Rejects with `StoreThrottled` for a throttled request, with any other error as it is. */
export function withStoreErrors(client: DynamoSender): DynamoSender {
  const send = client.send.bind(client) as (command: unknown) => Promise<unknown>;
  const translated = (command: unknown) =>
    send(command).catch((error: unknown) => {
      throw asStoreError(error);
    });
  return { send: translated as DynamoSender['send'] };
}
