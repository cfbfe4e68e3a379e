/** Messages of SQS as the core's: what a message that waits carries, and which queue it came from. */

import type { SQSRecord } from 'aws-lambda';
import type { LookupMessage } from '../../lib/lookups/index.ts';

/** Attributes of a message that waits. */
const sentAtName = 'countersign-sent-at';
const putAtName = 'countersign-put-at';
const waitsName = 'countersign-waits';

/** Between the function's put and SQS's time stamp: attempts, and clocks that differ. */
const puttingMs = 60_000;

/**
 * A message that waited keeps its first time stamp. A message that an operator redrives from the dead letters has the
 * same attributes, but a time stamp long after it was put: it counts as new from then on.
 *
 * @param busQueueUrl the queue that the bus alone sends to, where there is one
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
  // The earlier one, so that a sender gains no time by sending such attributes.
  const sentAt = Math.min(sentByQueueAt, numberOf(sentAtName) ?? sentByQueueAt);
  return { ...common, sentAt, waits: numberOf(waitsName) ?? 0 };
}

/** What `toMessage` reads of a message that is put back to wait. @param putAt in milliseconds since the epoch */
export const waitAttributes = (
  { sentAt, waits }: LookupMessage,
  putAt: number,
): Readonly<Record<string, number>> => ({
  [sentAtName]: sentAt,
  [putAtName]: putAt,
  [waitsName]: waits + 1,
});

/** Whether SQS gave out the record, and the queue is the one with this URL. */
export const isOf = ({ eventSource, eventSourceARN }: SQSRecord, queueUrl: string): boolean =>
  eventSource === 'aws:sqs' && isFrom(eventSourceARN, queueUrl);

/** A queue's name is the last part of its ARN, and of its URL. */
const isFrom = (queueArn: string, queueUrl: string) =>
  queueArn.slice(queueArn.lastIndexOf(':') + 1) === queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
