/** Converts SQS messages to the core's: their waiting time, and the queue that they came from. */

import type { SQSRecord } from 'aws-lambda';
import type { LookupMessage } from '../../lib/lookups/index.ts';

/** Attributes of a message that is put back to wait. */
const sentAtName = 'countersign-sent-at';
const putAtName = 'countersign-put-at';
const waitsName = 'countersign-waits';

/** Longest time between the function's put and SQS's time stamp: several attempts, and clocks that differ. */
const puttingMs = 60_000;

/**
 * A message that waited keeps its first time stamp. One that an operator redrives from the dead letters has the same
 * attributes, but a time stamp long after it was put: it counts as new.
 *
 * @param busQueueUrl the queue that only the bus sends to, if there is one
 */
export function toMessage(
  { messageId, body, attributes, messageAttributes, eventSourceARN }: SQSRecord,
  busQueueUrl?: string,
): LookupMessage {
  const numberOf = (name: string) => {
    const value = messageAttributes[name]?.stringValue ?? '';
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const isDirect = busQueueUrl !== undefined && !isFrom(eventSourceARN, busQueueUrl);
  const common = { id: messageId, body, ...(isDirect && { isDirect }) };
  const sentByQueueAt = Number(attributes.SentTimestamp);
  const putAt = numberOf(putAtName);
  if (putAt === undefined || sentByQueueAt - putAt > puttingMs)
    return { ...common, sentAt: sentByQueueAt, waits: 0 };
  // The earlier time, so that a sender cannot gain time with forged attributes.
  const sentAt = Math.min(sentByQueueAt, numberOf(sentAtName) ?? sentByQueueAt);
  return { ...common, sentAt, waits: numberOf(waitsName) ?? 0 };
}

/** Attributes for a message that is put back to wait, for `toMessage` to read. @param putAt in milliseconds since the epoch */
export const waitAttributes = (
  { sentAt, waits }: LookupMessage,
  putAt: number,
): Readonly<Record<string, number>> => ({
  [sentAtName]: sentAt,
  [putAtName]: putAt,
  [waitsName]: waits + 1,
});

/** Tells whether SQS delivered the record from the queue with this URL. */
export const isOf = ({ eventSource, eventSourceARN }: SQSRecord, queueUrl: string): boolean =>
  eventSource === 'aws:sqs' && isFrom(eventSourceARN, queueUrl);

/** Compares by name, the last part of a queue's ARN and of its URL. */
const isFrom = (queueArn: string, queueUrl: string) =>
  queueArn.slice(queueArn.lastIndexOf(':') + 1) === queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
