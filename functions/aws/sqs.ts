/** The core's queue over SQS. */

import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { onDemand } from '../../lib/kernel/once.ts';
import type { LookupMessage, LookupQueue, Wait } from '../../lib/lookups/index.ts';
import { waitAttributes } from '../events/sqs-message.ts';

interface SqsOptions {
  readonly queueUrl: string;
  /** The queue to which only the bus sends; its messages wait there. Default: there is only one queue. */
  readonly busQueueUrl?: string | undefined;
  readonly deadLetterUrl: string;
  /** Replaces the Region's endpoint; without it, the client reads AWS_ENDPOINT_URL itself. */
  readonly endpoint?: string;
  /** Time limit of one attempt of three. Default 2 seconds. */
  readonly timeoutMs?: number;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Called after every failed attempt to put messages back. */
  readonly onFailure?: (error: unknown) => void;
}

/** Most messages and bytes that SQS accepts in a batch. */
const maxMessages = 10;
const maxBytes = 240 * 1024;
const maxReasonLength = 500;

export function createLookupQueue(options: SqsOptions): LookupQueue {
  const { queueUrl, busQueueUrl = queueUrl, deadLetterUrl, endpoint, onFailure } = options;
  const { timeoutMs = 2000, clock = Date.now } = options;
  // The client is created when a message first has to wait, which most never do.
  const client = onDemand(
    () =>
      new SQSClient({
        maxAttempts: 3,
        // Both queues use the client's endpoint, because an emulator's queue URLs may name another host.
        useQueueUrlAsEndpoint: false,
        requestHandler: {
          connectionTimeout: timeoutMs,
          requestTimeout: timeoutMs,
          // Without this option, the client only warns after its time-out, and continues to wait.
          throwOnRequestTimeout: true,
        },
        ...(endpoint !== undefined && { endpoint }),
      }),
  );

  async function send(QueueUrl: string, waits: readonly Wait[]): Promise<readonly LookupMessage[]> {
    try {
      const { Failed = [] } = await client().send(
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: waits.map(({ message, seconds }, index) => ({
            Id: String(index),
            MessageBody: message.body,
            DelaySeconds: seconds,
            MessageAttributes: Object.fromEntries(
              Object.entries(waitAttributes(message, clock())).map(([name, value]) => [name, numeric(value)]),
            ),
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
      // Each message returns to its own queue, or its source would change.
      const queueOf = ({ message }: Wait) => (message.isDirect ? queueUrl : busQueueUrl);
      const failed = await Promise.all(
        [...new Set(waits.map(queueOf))].flatMap((url) =>
          batches(waits.filter((wait) => queueOf(wait) === url)).map((batch) => send(url, batch)),
        ),
      );
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
