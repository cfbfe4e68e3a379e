/**
 * Handlers of lookups by event: one for batches from queues, one for direct calls; no function has both. A record itself
 * says which queue it came from, so a direct caller could otherwise name the bus's queue, and with it any requester.
 */

import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type LookupParts, type Lookups, lookUpDirectly } from '../../lib/lookups/index.ts';
import { isOf, toMessage } from './sqs-message.ts';

/** @returns for a queue the messages that must come again, for a direct call the reply */
export type LookupHandler = (
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse | object>;

interface OwnQueues {
  readonly queueUrl: string;
  /** Queue that only the bus sends to, if there is one. */
  readonly busQueueUrl: string | undefined;
}

/** A workflow matches this name in `Retry`: the same lookup may succeed later. */
class LookupRetryable extends Error {
  override readonly name = 'LookupRetryable';
}

/** A workflow matches this name in `Catch`: another try cannot succeed. */
class LookupFailed extends Error {
  override readonly name = 'LookupFailed';
}

/**
 * Handles batches that an event source mapping delivers; anything else fails.
 *
 * @param queues the function's own; a record of another queue fails
 * @param clock now, in milliseconds since the epoch
 */
export function createQueueHandler(
  lookups: Pick<Lookups, 'batch'>,
  { queueUrl, busQueueUrl }: OwnQueues,
  clock: () => number,
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

/** Handles one request whose requester waits; records of a queue fail. */
export const createDirectHandler =
  (parts: LookupParts): LookupHandler =>
  async (event, context) => {
    const endAt = parts.clock() + context.getRemainingTimeInMillis();
    const { detail, failure } = await lookUpDirectly(parts, event, endAt);
    // A workflow distinguishes failures by name, and finds the reply in the error's message.
    if (failure) throw new (failure.retryable ? LookupRetryable : LookupFailed)(detail);
    return JSON.parse(detail) as object;
  };

const isQueueEvent = (event: unknown): event is SQSEvent =>
  typeof event === 'object' && event !== null && 'Records' in event && Array.isArray(event.Records);
