/** Takes what the stream delivers into the outbox, in its order, each message whole before the next. */

import { backOffMs } from '../kernel/pauses.ts';
import { leaseMs } from '../listener/lease.ts';
import { orderEvent, otherEvent } from './event-detail.ts';
import type { EventListening } from './listening.ts';
import { accountIn, type StreamMessage, streamedOrderOf } from './messages.ts';
import { type StreamedOrder, streamedChange } from './order-changes.ts';
import { addEvent, orderName, remembered } from './outbox.ts';

interface Received {
  readonly message: StreamMessage;
  readonly receivedAt: number;
  /** The account of a stream that has one only. */
  readonly onlyAccount: string | undefined;
}

const retry = { firstMs: 100, maxMs: 5_000 };
/** A message that the store refuses, although it accepts others, must not stop those. */
const giveUpMs = 60_000;
/** A store that accepts nothing has cost the lease: what no read shows is kept until the store is back. */
const outageMs = 600_000;

/** Writes a message after those before it. `listening.writing` then resolves when all are written, or given up. */
export function receive(listening: EventListening, received: Received): void {
  listening.writing = listening.writing.then(async () => {
    await takeMessage(listening, received);
    // A sign of life only now, when all that came before it is written.
    listening.lease.note({ lastSignAt: received.receivedAt });
  });
}

async function takeMessage(listening: EventListening, received: Received): Promise<void> {
  const { message, receivedAt } = received;
  if (!['order', 'position', 'option', 'other'].includes(message.kind)) return;
  const { clock, report, pause, lease, agenda } = listening;
  const firstAt = clock();
  for (let failures = 0; ; failures++) {
    try {
      return await write(listening, received);
    } catch (cause) {
      report({ kind: 'failed', step: 'store', cause });
      // A lease that is held was renewed: the store accepts other writes.
      const patienceMs = lease.isHeld() ? giveUpMs : outageMs;
      // The message may have waited behind another, and only a whole lease shows whether the store is up.
      const isTried = clock() - firstAt > leaseMs;
      if (isTried && clock() - receivedAt > patienceMs) return agenda.compareNow();
      await pause(backOffMs(retry, failures));
    }
  }
}

async function write(listening: EventListening, received: Received): Promise<void> {
  const { message, receivedAt, onlyAccount } = received;
  const order = message.kind === 'order' ? streamedOrderOf(message, onlyAccount) : undefined;
  if (order) return writeOrder(listening, order, received);
  const { names, report, outboxBell } = listening;
  if (message.kind === 'order')
    report({ kind: 'failed', step: 'parse', cause: new Error('a message of an order names none') });
  const event = await otherEvent(names, {
    eventType: message.eventType,
    isPosition: message.kind === 'position',
    account: accountIn(message.payload) ?? onlyAccount,
    requestId: message.requestId || message.payload,
    payload: message.payload,
    receivedAt,
    occurredAt: message.timestamp > 0 ? message.timestamp : undefined,
  });
  await addEvent(listening, event);
  outboxBell.ring();
}

/** Begins again when a comparison has written something of the same order meanwhile. */
async function writeOrder(
  listening: EventListening,
  order: StreamedOrder,
  { message: { payload }, receivedAt }: Received,
): Promise<void> {
  const { names, upstreamClock, outboxBell, agenda } = listening;
  const { state, scene, at } = order;
  const name = await orderName(listening, state);
  for (;;) {
    const known = await remembered(listening, name);
    const change = streamedChange(known?.memory, order, upstreamClock.now());
    if (change === 'repetition') return;
    const event = await orderEvent(names, change.id, {
      state,
      scene,
      reconciled: false,
      payload,
      receivedAt,
      occurredAt: at,
    });
    const { next } = change;
    const isChanged = next !== undefined && next !== known?.memory;
    const result = await addEvent(listening, event, isChanged ? { name, known, next } : undefined);
    if (result === 'overtaken') continue;
    outboxBell.ring();
    // Only the look-up by id shows the order's new terms.
    if (result === 'added' && change.scene === 'MODIFY_SUCCESS') agenda.lookUpSoon(state);
    return;
  }
}
