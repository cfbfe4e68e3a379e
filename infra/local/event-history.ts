/** The last events of a bus, for followers that lost their connection and come back. */

import type { BusEvent, LocalBus } from './bus.ts';

export interface KeptEvent {
  /** The event's own id, by which repetitions are one. */
  readonly id: string;
  /** In clear; undefined of an event that names none. */
  readonly account: string | undefined;
  readonly event: BusEvent;
}

export interface EventHistory {
  /**
   * Gives a follower what it has missed, and from now on each event.
   *
   * @param lastId the last one that it has; undefined where it has none, and misses nothing
   * @returns ends it; and whether what it has missed is all here
   */
  follow(
    follower: Follower,
    lastId: string | undefined,
  ): { readonly end: () => void; readonly isWhole: boolean };
  /** Ends all followers. */
  close(): void;
}

export interface Follower {
  readonly receive: (event: KeptEvent) => void;
  readonly closed: () => void;
}

const kept = 500;

/**
 * @example
 * const history = createEventHistory(bus);
 * const { end } = history.follow({ receive: ({ id }) => console.log(id), closed: () => {} }, undefined);
 */
export function createEventHistory(bus: Pick<LocalBus, 'subscribe'>, limit = kept): EventHistory {
  const events: KeptEvent[] = [];
  const followers = new Set<Follower>();
  let isClosed = false;
  const unsubscribe = bus.subscribe((event) => {
    const { event_id, account_id } = JSON.parse(event.detail) as Readonly<Record<string, string | undefined>>;
    const one = { id: event_id ?? event.id, account: account_id, event };
    events.push(one);
    if (events.length > limit) events.shift();
    for (const { receive } of [...followers]) receive(one);
  });
  return {
    follow(follower, lastId) {
      const at = events.findLastIndex(({ id }) => id === lastId);
      const isWhole = lastId === undefined || at >= 0;
      for (const missed of lastId === undefined ? [] : events.slice(at + 1)) follower.receive(missed);
      if (isClosed) follower.closed();
      else followers.add(follower);
      return { end: () => void followers.delete(follower), isWhole };
    },
    close() {
      isClosed = true;
      unsubscribe();
      for (const { closed } of [...followers]) closed();
      followers.clear();
    },
  };
}
