/** The event bus of the local run: what one part of this process publishes reaches every subscriber, in order. */

import { randomUUID } from 'node:crypto';

/** An entry as a sender puts it on the bus. */
export interface LocalBusEntry {
  /** Who says it. */
  readonly source: string;
  readonly detailType: string;
  /** A JSON text, which stays as it is. */
  readonly detail: string;
  /** What the event is about. */
  readonly resources?: readonly string[];
  /** When it happened, in milliseconds since the epoch. Default: now. */
  readonly time?: number;
}

/** An entry that is on the bus. */
export interface BusEvent extends Required<LocalBusEntry> {
  readonly id: string;
}

export interface LocalBus {
  /**
   * Gives each entry to all subscribers before the next one. They have it when this returns, unless a listener calls
   * it: then they get it after the event that the listener was called for.
   *
   * @returns the events that became of the entries
   */
  publish(...entries: readonly LocalBusEntry[]): readonly BusEvent[];
  /**
   * Gives the listener what is published from now on; it may be in the middle of what others publish.
   *
   * @returns ends the subscription
   */
  subscribe(listener: (event: BusEvent) => void): () => void;
}

export interface LocalBusOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** A listener threw; the others get the event all the same. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * @example
 * const bus = createLocalBus();
 * const end = bus.subscribe(({ detailType, detail }) => console.log(detailType, detail));
 * bus.publish({ source: 'orders', detailType: 'OrderChanged', detail: '{"status":"FILLED"}' });
 * end();
 */
export function createLocalBus({ clock = Date.now, onFailure }: LocalBusOptions = {}): LocalBus {
  const listeners = new Set<{ readonly listener: (event: BusEvent) => void }>();
  const waiting: BusEvent[] = [];
  let isDelivering = false;

  function deliver(event: BusEvent): void {
    for (const { listener } of [...listeners])
      try {
        listener(event);
      } catch (error) {
        onFailure?.(error);
      }
  }

  return {
    publish(...entries) {
      const events = entries.map((entry) => ({
        resources: [],
        ...entry,
        time: entry.time ?? clock(),
        id: randomUUID(),
      }));
      waiting.push(...events);
      if (isDelivering) return events;
      isDelivering = true;
      for (let next = waiting.shift(); next; next = waiting.shift()) deliver(next);
      isDelivering = false;
      return events;
    },
    subscribe(listener) {
      // Of its own, so that one listener can subscribe twice.
      const subscription = { listener };
      listeners.add(subscription);
      return () => void listeners.delete(subscription);
    },
  };
}

/** The event as a rule of EventBridge hands it to a target: JSON in which `detail` is as it was published. */
export function envelopeOf({ id, source, detailType, detail, resources, time }: BusEvent): string {
  const head = {
    version: '0',
    id,
    'detail-type': detailType,
    source,
    account: '000000000000',
    // EventBridge writes whole seconds.
    time: `${new Date(time).toISOString().slice(0, 19)}Z`,
    region: 'local',
    resources,
  };
  return `${JSON.stringify(head).slice(0, -1)},"detail":${detail}}`;
}
