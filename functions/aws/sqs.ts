/** The rim: SQS messages as the core's, and the core's queue over SQS. */

import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { LookupMessage, LookupQueue, Wait } from '../../lib/lookups/index.ts';
import { onDemand } from './on-demand.ts';

/** Attributes of a message that waits. */
const sentAtName = 'countersign-sent-at';
const putAtName = 'countersign-put-at';
const waitsName = 'countersign-waits';

/** Between the function's put and SQS's time stamp: attempts, and clocks that differ. */
const puttingMs = 60_000;

/**
 * A message that waited keeps its first time stamp. A message that an operator redrives from the dead letters has the
 * same attributes, but a time stamp long after it was put: it counts as new from then on.
 */
export function toMessage({ messageId, body, attributes, messageAttributes }: SQSRecord): LookupMessage {
  const numberOf = (name: string) => {
    const value = messageAttributes[name]?.stringValue ?? '';
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const sentByQueueAt = Number(attributes.SentTimestamp);
  const putAt = numberOf(putAtName);
  if (putAt === undefined || sentByQueueAt - putAt > puttingMs)
    return { id: messageId, body, sentAt: sentByQueueAt, waits: 0 };
  // The earlier one, so that a sender gains no time by sending such attributes.
  const sentAt = Math.min(sentByQueueAt, numberOf(sentAtName) ?? sentByQueueAt);
  return { id: messageId, body, sentAt, waits: numberOf(waitsName) ?? 0 };
}

export interface SqsOptions {
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
  /** In place of the Region's endpoint; otherwise the client looks into AWS_ENDPOINT_URL itself. */
  readonly endpoint?: string;
  /** For one attempt of three. Default 2 seconds. */
  readonly timeoutMs?: number;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Told of every failed attempt to put messages back. */
  readonly onFailure?: (error: unknown) => void;
}

/** SQS accepts so many messages and bytes in a batch. */
const maxMessages = 10;
const maxBytes = 240 * 1024;
const maxReasonLength = 500;

export function createLookupQueue(options: SqsOptions): LookupQueue {
  const { queueUrl, deadLetterUrl, endpoint, timeoutMs = 2000, clock = Date.now, onFailure } = options;
  // Created when a message first has to wait, which most never do.
  const client = onDemand(
    () =>
      new SQSClient({
        maxAttempts: 3,
        // One endpoint for both queues: an emulator's queue URLs may name another host.
        useQueueUrlAsEndpoint: false,
        requestHandler: {
          connectionTimeout: timeoutMs,
          requestTimeout: timeoutMs,
          // Without it the client only warns, and continues to wait.
          throwOnRequestTimeout: true,
        },
        ...(endpoint !== undefined && { endpoint }),
      }),
  );

  async function send(waits: readonly Wait[]): Promise<readonly LookupMessage[]> {
    try {
      const { Failed = [] } = await client().send(
        new SendMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: waits.map(({ message, seconds }, index) => ({
            Id: String(index),
            MessageBody: message.body,
            DelaySeconds: seconds,
            MessageAttributes: {
              [sentAtName]: numeric(message.sentAt),
              [putAtName]: numeric(clock()),
              [waitsName]: numeric(message.waits + 1),
            },
          })),
        }),
      );
      if (Failed.length > 0)
        onFailure?.(Object.assign(new Error(), { code: Failed[0]?.Code ?? 'SendMessageBatch' }));
      return Failed.flatMap(({ Id }) => waits[Number(Id)]?.message ?? []);
    } catch (error) {
      onFailure?.(error);
      return waits.map(({ message }) => message);
    }
  }

  return {
    async putAgain(waits) {
      const failed = await Promise.all(batches(waits).map(send));
      return new Set(failed.flat());
    },
    async deadLetter({ body }, reason) {
      // SQS refuses some characters in attributes, and the reason may quote one of them.
      const plain = reason.replace(/[^ -~]/g, '?').slice(0, maxReasonLength);
      await client().send(
        new SendMessageCommand({
          QueueUrl: deadLetterUrl,
          MessageBody: body,
          MessageAttributes: { reason: { DataType: 'String', StringValue: plain } },
        }),
      );
    },
  };
}

const numeric = (value: number) => ({ DataType: 'Number', StringValue: String(value) });

function batches(waits: readonly Wait[]): readonly (readonly Wait[])[] {
  const found: Wait[][] = [];
  let bytes = 0;
  for (const wait of waits) {
    const size = Buffer.byteLength(wait.message.body) + 300;
    const last = found.at(-1);
    if (last && last.length < maxMessages && bytes + size <= maxBytes) {
      last.push(wait);
      bytes += size;
    } else {
      found.push([wait]);
      bytes = size;
    }
  }
  return found;
}
