/** Takes what the stream delivers into the outbox, in its order, each message whole before the next. */

import { backOffMs } from '../kernel/pauses.ts';
import { leaseMs } from '../listener/lease.ts';
import { orderEvent, otherEvent } from './event-detail.ts';
import { accountIn, type StreamMessage, streamedOrderOf } from './messages.ts';
import { type StreamedOrder, streamedChange } from './order-changes.ts';
import { addEvent, changeTo, orderName, remembered } from './outbox.ts';
import type { ShiftParts } from './ports.ts';

interface InboxCallbacks {
  /** Only the look-up by id tells what the order is now. */
  readonly onReplaced: (order: { readonly account: string; readonly clientOrderId: string }) => void;
  /** A message could not be written, and is given up. */
  readonly onLost: () => void;
}

const retry = { firstMs: 100, maxMs: 5_000 };
/** A message that the store does not take, although it takes others, must not stop those. */
const giveUpMs = 60_000;
/** A store that takes nothing at all has cost the lease: what no read shows is kept until it is back. */
const outageMs = 600_000;

export class Inbox {
  readonly #parts: ShiftParts;
  readonly #callbacks: InboxCallbacks;
  /** That of a stream that has one account only. */
  #onlyAccount: string | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ShiftParts, callbacks: InboxCallbacks) {
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  set accounts(accounts: readonly string[]) {
    this.#onlyAccount = accounts.length === 1 ? accounts[0] : undefined;
  }

  push(message: StreamMessage, receivedAt: number): void {
    // A later stream may have other accounts before this message is written.
    const onlyAccount = this.#onlyAccount;
    this.#last = this.#last.then(async () => {
      await this.#take(message, receivedAt, onlyAccount);
      // A sign of life only now, when all that came before it is written.
      this.#parts.lease.note({ lastSignAt: receivedAt });
    });
  }

  /** Resolves when all that was pushed is written, or given up. */
  async drained(): Promise<void> {
    await this.#last;
  }

  async #take(message: StreamMessage, receivedAt: number, onlyAccount: string | undefined): Promise<void> {
    if (!['order', 'position', 'option', 'other'].includes(message.kind)) return;
    const { clock, report, pause, lease } = this.#parts;
    const firstAt = clock();
    for (let failures = 0; ; failures++) {
      try {
        return await this.#write(message, receivedAt, onlyAccount);
      } catch (cause) {
        report({ kind: 'failed', step: 'store', cause });
        // A lease that is held was renewed: the store takes other things.
        const patienceMs = lease.isHeld() ? giveUpMs : outageMs;
        // It may have waited behind another, and only a whole lease tells whether the store is up.
        const isTried = clock() - firstAt > leaseMs;
        if (isTried && clock() - receivedAt > patienceMs) return this.#callbacks.onLost();
        await pause(backOffMs(retry, failures));
      }
    }
  }

  async #write(message: StreamMessage, receivedAt: number, onlyAccount: string | undefined): Promise<void> {
    const order = message.kind === 'order' ? streamedOrderOf(message, onlyAccount) : undefined;
    if (order) return this.#writeOrder(order, message.payload, receivedAt);
    const { names, report, onAdded } = this.#parts;
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
    await addEvent(this.#parts, event);
    onAdded();
  }

  /** Again from the start when a comparison has written something of the same order meanwhile. */
  async #writeOrder(order: StreamedOrder, payload: string, receivedAt: number): Promise<void> {
    const { state, scene, at } = order;
    const name = await orderName(this.#parts, state);
    for (;;) {
      const known = await remembered(this.#parts, name);
      const change = streamedChange(known?.memory, order, this.#parts.upstreamNow());
      if (change === 'repetition') return;
      const event = await orderEvent(this.#parts.names, change.id, {
        state,
        scene,
        reconciled: false,
        payload,
        receivedAt,
        occurredAt: at,
      });
      const { next } = change;
      const isChanged = next !== undefined && next !== known?.memory;
      const written = isChanged ? (now: number) => changeTo(next, name, known?.revision, now) : undefined;
      const result = await addEvent(this.#parts, event, written);
      if (result === 'overtaken') continue;
      this.#parts.onAdded();
      if (result === 'added' && change.scene === 'MODIFY_SUCCESS') this.#callbacks.onReplaced(state);
      return;
    }
  }
}
