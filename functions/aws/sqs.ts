/** The rim: SQS messages to the core's, and its queue. */

import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { LookupMessage, LookupQueue, Wait } from '../../lib/lookups/index.ts';
import { onDemand } from './on-demand.ts';

/** What a message that waits carries along. */
const sentAtName = 'countersign-sent-at';
const putAtName = 'countersign-put-at';
const waitsName = 'countersign-waits';

/** From when a message is put to when SQS says that it came: attempts, and clocks that differ. */
const puttingMs = 60_000;

/**
 * A message that waited keeps its first moment. One that SQS has moved to the dead letters carries the same
 * attributes, but came anew when it was redriven, long after it was put: it counts from then, as a new one does.
 */
export function toMessage({ messageId, body, attributes, messageAttributes }: SQSRecord): LookupMessage {
  const numberOf = (name: string) => {
    const value = messageAttributes[name]?.stringValue ?? '';
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const came = Number(attributes.SentTimestamp);
  const putAt = numberOf(putAtName);
  if (putAt === undefined || came - putAt > puttingMs) return { id: messageId, body, sentAt: came, waits: 0 };
  // The earlier: whoever sends such attributes himself gains no time by it.
  const sentAt = Math.min(came, numberOf(sentAtName) ?? came);
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

/** Of a batch, SQS takes so many messages and bytes. */
const mostMessages = 10;
const mostBytes = 240 * 1024;
const longestReason = 500;

export function createLookupQueue(options: SqsOptions): LookupQueue {
  const { queueUrl, deadLetterUrl, endpoint, timeoutMs = 2000, clock = Date.now, onFailure } = options;
  // Most messages never have to wait.
  const client = onDemand(
    () =>
      new SQSClient({
        maxAttempts: 3,
        // One endpoint for both queues: their addresses name the same, or an emulator's other name.
        useQueueUrlAsEndpoint: false,
        requestHandler: {
          connectionTimeout: timeoutMs,
          requestTimeout: timeoutMs,
          // Without it the client only warns and waits on.
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
      // SQS refuses some characters in attributes, and what is wrong here may be just that.
      const plain = reason.replace(/[^ -~]/g, '?').slice(0, longestReason);
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
    if (last && last.length < mostMessages && bytes + size <= mostBytes) {
      last.push(wait);
      bytes += size;
    } else {
      found.push([wait]);
      bytes = size;
    }
  }
  return found;
}
