/** The handler of lookups by event: batches of a queue, and direct calls. */

import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Lookups } from '../../lib/lookups/index.ts';
import { toMessage } from './sqs-message.ts';

/** @returns for a queue the messages that must come again, else the reply */
export type LookupHandler = (
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse | object>;

/** A workflow matches this name in `Retry`: the same lookup may succeed later. */
export class LookupRetryable extends Error {
  override readonly name = 'LookupRetryable';
}

/** A workflow matches this name in `Catch`: another try cannot succeed. */
export class LookupFailed extends Error {
  override readonly name = 'LookupFailed';
}

/**
 * @param clock now, in milliseconds since the epoch
 * @param busQueueUrl the queue that the bus alone sends to, where there is one
 */
export function createLookupHandler(
  lookups: Lookups,
  clock: () => number = Date.now,
  busQueueUrl?: string,
): LookupHandler {
  return async (event, context) => {
    const endAt = clock() + context.getRemainingTimeInMillis();
    if (isQueueEvent(event)) {
      const messages = event.Records.map((record) => toMessage(record, busQueueUrl));
      const comeAgain = await lookups.batch(messages, endAt);
      return { batchItemFailures: comeAgain.map((itemIdentifier) => ({ itemIdentifier })) };
    }
    const { detail, failure } = await lookups.direct(event, endAt);
    // A workflow distinguishes failures by name, and finds the reply in the error's message.
    if (failure) throw new (failure.retryable ? LookupRetryable : LookupFailed)(detail);
    return JSON.parse(detail) as object;
  };
}

const isQueueEvent = (event: unknown): event is SQSEvent =>
  typeof event === 'object' && event !== null && 'Records' in event && Array.isArray(event.Records);
