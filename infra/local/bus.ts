/** Event bus of the local run: delivers an entry that one part of this process publishes to every subscriber, in order. */

import { randomUUID } from 'node:crypto';

/** Entry as a sender puts it on the bus. */
export interface LocalBusEntry {
  /** Sender of the entry. */
  readonly source: string;
  readonly detailType: string;
  /** JSON text, which stays unchanged. */
  readonly detail: string;
  /** Resources that the event is about. */
  readonly resources?: readonly string[];
  /** Time of the event, in milliseconds since the epoch. Default: now. */
  readonly time?: number;
}

/** Entry that is on the bus. */
export interface BusEvent extends Required<LocalBusEntry> {
  readonly id: string;
}

export interface LocalBus {
  /**
   * Delivers each entry to all subscribers before the next one. They have it when this returns, except when a listener
   * calls it: then they get it after the event that the listener is called for.
   *
   * @returns the events that the entries became
   */
  publish(...entries: readonly LocalBusEntry[]): readonly BusEvent[];
  /**
   * Delivers to the listener what is published from now on, perhaps from the middle of a publication.
   *
   * @returns ends the subscription
   */
  subscribe(listener: (event: BusEvent) => void): () => void;
}

interface LocalBusOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Called when a listener threw; the others get the event all the same. */
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
      // A new object, so that one listener can subscribe twice.
      const subscription = { listener };
      listeners.add(subscription);
      return () => void listeners.delete(subscription);
    },
  };
}

/** Event as a rule of EventBridge hands it to a target: JSON with `detail` exactly as published. */
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
