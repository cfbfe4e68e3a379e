/** Lookups by event in this process: the bus's rule, the queue, and the deployed handler, which publishes its replies. */

import type { SQSBatchResponse } from 'aws-lambda';
import { createLookupHandler } from '../../functions/aws/lookup-handler.ts';
import { eventNames, replySource } from '../../lib/events/names.ts';
import type { GatewayOptions } from '../../lib/gateway/index.ts';
import { createLookups, createMemoryLookupStore, type LookupsOptions } from '../../lib/lookups/index.ts';
import { envelopeOf, type LocalBus } from './bus.ts';
import { createLocalQueue, type Settled } from './queue.ts';

export interface LocalLookupsOptions extends Pick<LookupsOptions, 'gateway'> {
  readonly operations: GatewayOptions['operations'];
  readonly bus: LocalBus;
}

export interface LocalLookups {
  /** What becomes of a request. @returns undefined for an event that was not on the bus now, or is no request */
  settled(eventId: string): Promise<Settled> | undefined;
  close(): void;
}

/** As the stack's rule: what it does not take, no function hears of. */
const requests: readonly string[] = Object.values(eventNames).map(({ requested }) => requested);

export function createLocalLookups({ gateway, operations, bus }: LocalLookupsOptions): LocalLookups {
  const queue = createLocalQueue({
    // For records of a queue it answers which of them come again.
    invoke: async (event, context) => (await handler(event, context)) as SQSBatchResponse,
  });
  const handler = createLookupHandler(
    createLookups({
      gateway,
      operations,
      store: createMemoryLookupStore(),
      queue: queue.port,
      bus: {
        async publish(entries) {
          bus.publish(...entries.map((entry) => ({ ...entry, source: replySource })));
          return entries.map(() => true);
        },
      },
    }),
  );
  const pending = new Map<string, Promise<Settled>>();
  const unsubscribe = bus.subscribe((event) => {
    if (!requests.includes(event.detailType)) return;
    const { id } = event;
    pending.set(
      id,
      queue.send(envelopeOf(event)).finally(() => pending.delete(id)),
    );
  });
  return {
    settled: (eventId) => pending.get(eventId),
    close() {
      unsubscribe();
      queue.close();
    },
  };
}
