/** Measures the stream of order events in `countersign prove`: when it began, and how long after a request it sent the change. */

import type { Connection } from '../../../lib/client/index.ts';
import type { OrderChanged } from '../../../lib/trade-events/bus-events.ts';
import { followOrderEvents } from '../../../lib/trade-events/follow-events.ts';
import type { Pace } from './prove-calls.ts';

export interface OrderStream {
  /** Milliseconds until the stream began; undefined if it did not in time. @throws the error that ended it */
  began(): Promise<number | undefined>;
  /** Milliseconds from a moment until the first change that matches; undefined if none came in time. */
  told(from: number, isIt: (change: OrderChanged) => boolean): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Time limit of each wait. A listener that takes over from a dead one needs half of it. */
const patienceMs = 60_000;
const betweenLooksMs = 100;

export function openOrderStream(connection: Connection, { clock, pause }: Pace): OrderStream {
  const left = new AbortController();
  const opened = clock();
  const changes: { readonly at: number; readonly change: OrderChanged }[] = [];
  let began: number | undefined;
  let failed: { readonly error: unknown } | undefined;
  const read = async () => {
    for await (const update of followOrderEvents(connection, { signal: left.signal })) {
      if (update.kind === 'connected') began ??= clock();
      if (update.kind === 'event' && update.event.detailType === 'OrderChanged')
        changes.push({ at: clock(), change: update.event.detail });
    }
  };
  const reading = read().catch((error: unknown) => {
    failed = { error };
  });
  /** Polls until `look` gives a moment. @returns milliseconds from `from` to it */
  async function within(from: number, look: () => number | undefined): Promise<number | undefined> {
    const until = clock() + patienceMs;
    for (;;) {
      const at = look();
      if (at !== undefined) return Math.max(0, Math.round(at - from));
      if (failed || clock() > until) return undefined;
      await pause(betweenLooksMs);
    }
  }
  return {
    async began() {
      const ms = await within(opened, () => began);
      if (failed) throw failed.error;
      return ms;
    },
    told: (from, isIt) =>
      within(from, () => changes.find(({ at, change }) => at >= from && isIt(change))?.at),
    async close() {
      left.abort();
      await reading;
    },
  };
}
