/** Queue of lookups and its function, as SQS and Lambda run them: batches, delays, copies, dead letters. */

import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { waitAttributes } from '../../functions/events/sqs-message.ts';
import { type After, afterTimeout } from '../../lib/limiter/index.ts';
import type { LookupMessage, LookupQueue } from '../../lib/lookups/index.ts';

/** End of a message, once neither it nor a copy of it is in the queue. */
export type SettledMessage = { readonly kind: 'done' } | { readonly kind: 'dead'; readonly reason?: string };

interface LocalQueueOptions {
  /** Calls the function with a batch, as Lambda would. */
  readonly invoke: (
    event: SQSEvent,
    context: Pick<Context, 'getRemainingTimeInMillis'>,
  ) => Promise<SQSBatchResponse>;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Runs something later; replace it in tests only. */
  readonly after?: After;
}

export interface LocalQueue {
  send(body: string): Promise<SettledMessage>;
  /** Port by which the function puts messages back, or gives them up. */
  readonly port: LookupQueue;
  /** Stops all deliveries. */
  close(): void;
}

interface QueueMessage {
  readonly id: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, number>>;
  readonly sentAt: number;
  readonly settle: (settled: SettledMessage) => void;
  receives: number;
  /** Whether a copy of it is in the queue. */
  isReplaced: boolean;
  /** Reason why it is a dead letter. */
  reason?: string;
}

/** Values of the queue and the function in the stack's configuration. */
const maxReceives = 6;
const batchSize = 100;
const concurrency = 2;
const timeLimitMs = 25_000;
/** Milliseconds until a message that the function handed back comes again; in SQS minutes, because functions may die. */
const comeAgainMs = 1000;

/**
 * @example
 * const queue = createLocalQueue({ invoke: async () => ({ batchItemFailures: [] }) });
 * const { kind } = await queue.send('{"request_id":"report-17","symbols":["AAPL"],"category":"US_STOCK"}');
 */
export const createLocalQueue = (options: LocalQueueOptions): LocalQueue => new Deliveries(options);

class Deliveries implements LocalQueue {
  readonly #invoke: LocalQueueOptions['invoke'];
  readonly #clock: () => number;
  readonly #after: After;
  readonly #visible: QueueMessage[] = [];
  readonly #inFlight = new Map<string, QueueMessage>();
  /** Functions that each cancel one delayed delivery. */
  readonly #alarms = new Set<() => void>();
  #running = 0;
  #isClosed = false;

  readonly port: LookupQueue = {
    putAgain: async (waits) => {
      for (const { message, seconds } of waits) this.#putCopy(message, seconds * 1000);
      return new Set();
    },
    deadLetter: async ({ id }, reason) => {
      const letter = this.#inFlight.get(id);
      if (letter) letter.reason = reason;
    },
  };

  constructor({ invoke, clock = Date.now, after = afterTimeout }: LocalQueueOptions) {
    this.#invoke = invoke;
    this.#clock = clock;
    this.#after = after;
  }

  send(body: string): Promise<SettledMessage> {
    return new Promise((settle) => this.#put({ body, attributes: {}, sentAt: this.#clock(), settle }));
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#alarms) cancel();
    this.#alarms.clear();
  }

  #put(message: Omit<QueueMessage, 'id' | 'receives' | 'isReplaced'>): void {
    this.#visible.push({ ...message, id: randomUUID(), receives: 0, isReplaced: false });
    // Deferred, so that messages that are sent in one go form one batch.
    queueMicrotask(() => this.#work());
  }

  /** Puts a copy that is as old as the original, and counts its waits. */
  #putCopy(message: LookupMessage, ms: number): void {
    const original = this.#inFlight.get(message.id);
    if (!original) return;
    original.isReplaced = true;
    const { body, settle } = original;
    const sentAt = this.#clock();
    const attributes = waitAttributes(message, sentAt);
    this.#later(ms, () => this.#put({ body, attributes, sentAt, settle }));
  }

  #later(ms: number, run: () => void): void {
    const cancel = this.#after(ms, () => {
      this.#alarms.delete(cancel);
      run();
    });
    this.#alarms.add(cancel);
  }

  #work(): void {
    while (!this.#isClosed && this.#running < concurrency && this.#visible.length > 0) {
      this.#running++;
      void this.#deliver(this.#visible.splice(0, batchSize)).finally(() => {
        this.#running--;
        this.#work();
      });
    }
  }

  async #deliver(batch: readonly QueueMessage[]): Promise<void> {
    for (const message of batch) {
      message.receives++;
      this.#inFlight.set(message.id, message);
    }
    const failed = await this.#failedOf(batch);
    for (const message of batch) {
      this.#inFlight.delete(message.id);
      if (failed.has(message.id)) this.#comeAgain(message);
      else if (!message.isReplaced) message.settle(endOf(message));
    }
  }

  /** Ids of the messages that come again: all of them when the function throws. */
  async #failedOf(batch: readonly QueueMessage[]): Promise<ReadonlySet<string>> {
    const endAt = this.#clock() + timeLimitMs;
    const getRemainingTimeInMillis = () => Math.max(0, endAt - this.#clock());
    try {
      const event = { Records: batch.map(recordOf) };
      const { batchItemFailures } = await this.#invoke(event, { getRemainingTimeInMillis });
      return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    } catch {
      return new Set(batch.map(({ id }) => id));
    }
  }

  #comeAgain(message: QueueMessage): void {
    if (message.receives >= maxReceives) return void message.settle({ kind: 'dead' });
    this.#later(comeAgainMs, () => {
      this.#visible.push(message);
      this.#work();
    });
  }
}

const endOf = ({ reason }: QueueMessage): SettledMessage =>
  reason === undefined ? { kind: 'done' } : { kind: 'dead', reason };

const recordOf = ({ id, body, attributes, sentAt, receives }: QueueMessage): SQSRecord => ({
  messageId: id,
  receiptHandle: id,
  body,
  attributes: {
    ApproximateReceiveCount: String(receives),
    SentTimestamp: String(sentAt),
    SenderId: 'local',
    ApproximateFirstReceiveTimestamp: String(sentAt),
  },
  messageAttributes: Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      { dataType: 'Number', stringValue: String(value) },
    ]),
  ),
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:local:000000000000:lookups',
  awsRegion: 'local',
});
