/**
 * The handlers of lookups by event: one for batches of the queues, and one for direct calls. No function has both. A record
 * says itself which queue it came from, so that one who may only call directly could name the bus's queue, and with it any
 * requester.
 */

import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { DirectReply, Lookups } from '../../lib/lookups/index.ts';
import { isOf, toMessage } from './sqs-message.ts';

/** @returns for a queue the messages that must come again, else the reply */
export type LookupHandler = (
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse | object>;

export interface OwnQueues {
  readonly queueUrl: string;
  /** The queue that the bus alone sends to, where there is one. */
  readonly busQueueUrl: string | undefined;
}

/** A workflow matches this name in `Retry`: the same lookup may succeed later. */
export class LookupRetryable extends Error {
  override readonly name = 'LookupRetryable';
}

/** A workflow matches this name in `Catch`: another try cannot succeed. */
export class LookupFailed extends Error {
  override readonly name = 'LookupFailed';
}

/**
 * For what an event source mapping brings; anything else fails.
 *
 * @param queues its own
 * @param clock now, in milliseconds since the epoch
 */
export function createQueueHandler(
  lookups: Pick<Lookups, 'batch'>,
  { queueUrl, busQueueUrl }: OwnQueues,
  clock: () => number = Date.now,
): LookupHandler {
  const own = [queueUrl, ...(busQueueUrl === undefined ? [] : [busQueueUrl])];
  return async (event, context) => {
    const endAt = clock() + context.getRemainingTimeInMillis();
    if (!isQueueEvent(event) || !event.Records.every((record) => own.some((url) => isOf(record, url))))
      throw new LookupFailed('This function takes the messages of its own queues alone.');
    const messages = event.Records.map((record) => toMessage(record, busQueueUrl));
    const comeAgain = await lookups.batch(messages, endAt);
    return { batchItemFailures: comeAgain.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

/**
 * For one request whose requester waits; records of a queue are none.
 *
 * @param clock now, in milliseconds since the epoch
 */
export function createDirectHandler(
  direct: (event: unknown, endAt: number) => Promise<DirectReply>,
  clock: () => number = Date.now,
): LookupHandler {
  return async (event, context) => {
    const { detail, failure } = await direct(event, clock() + context.getRemainingTimeInMillis());
    // A workflow distinguishes failures by name, and finds the reply in the error's message.
    if (failure) throw new (failure.retryable ? LookupRetryable : LookupFailed)(detail);
    return JSON.parse(detail) as object;
  };
}

const isQueueEvent = (event: unknown): event is SQSEvent =>
  typeof event === 'object' && event !== null && 'Records' in event && Array.isArray(event.Records);
