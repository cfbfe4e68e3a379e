/** The queue of lookups with the function behind it, as SQS and Lambda run them: batches, delays, copies, dead letters. */

import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { waitAttributes } from '../../functions/events/sqs-message.ts';
import { type After, afterTimeout } from '../../lib/limiter/index.ts';
import type { LookupMessage, LookupQueue } from '../../lib/lookups/index.ts';

/** What became of a message, when neither it nor a copy of it is in the queue any more. */
export type SettledMessage = { readonly kind: 'done' } | { readonly kind: 'dead'; readonly reason?: string };

export interface LocalQueueOptions {
  /** The function, which Lambda would call with a batch. */
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
  /** What the function puts back, and gives up. */
  readonly port: LookupQueue;
  /** Nothing is delivered any more. */
  close(): void;
}

interface QueueMessage {
  readonly id: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, number>>;
  readonly sentAt: number;
  readonly settle: (settled: SettledMessage) => void;
  receives: number;
  /** A copy of it is in the queue. */
  isReplaced: boolean;
  /** Why it is a dead letter. */
  reason?: string;
}

/** As the stack configures queue and function. */
const maxReceives = 6;
const batchSize = 100;
const concurrency = 2;
const timeLimitMs = 25_000;
/** Until a message comes again that the function handed back; in SQS minutes, for the sake of functions that die. */
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
  /** Each ends one. */
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
    // Later, so that what is sent in one go is one batch.
    queueMicrotask(() => this.#work());
  }

  /** It is as old as the first one, and counts its waits. */
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

  /** The ids of messages that come again: of all, when the function throws. */
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
