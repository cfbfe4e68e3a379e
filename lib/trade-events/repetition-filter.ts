/** Drops events that come again: a bus delivers at least once, and so does the listener. */

import { dropOldest } from '../kernel/bounded-map.ts';

/** Port: which events a consumer has worked off. */
export interface SeenEvents {
  /** True for the first that asks for this id; a store that forgets does so after a day or later. */
  first(eventId: string): Promise<boolean>;
  /** The work on it failed: the next one is the first again. */
  forget(eventId: string): Promise<void>;
}

export interface RepetitionFilter {
  /**
   * Works an event off, unless it was worked off before.
   *
   * @returns whether `work` ran; rejects as it does, and the event is then open again
   */
  once(
    event: { readonly detail: { readonly event_id: string } },
    work: () => Promise<void>,
  ): Promise<boolean>;
}

/**
 * @param seen default: in the memory of this process, the last 10 000
 *
 * @example
 * const filter = createRepetitionFilter();
 * const event = parseTradeEvent(input);
 * if (event) await filter.once(event, async () => book(event));
 */
export function createRepetitionFilter(seen: SeenEvents = createMemorySeenEvents()): RepetitionFilter {
  return {
    async once({ detail }, work) {
      if (!(await seen.first(detail.event_id))) return false;
      try {
        await work();
      } catch (error) {
        await seen.forget(detail.event_id);
        throw error;
      }
      return true;
    },
  };
}

/**
 * @param limit so many ids are kept; the oldest go first
 *
 * @example
 * const filter = createRepetitionFilter(createMemorySeenEvents(1000));
 */
export function createMemorySeenEvents(limit = 10_000): SeenEvents {
  const ids = new Set<string>();
  return {
    async first(eventId) {
      if (ids.has(eventId)) return false;
      ids.add(eventId);
      dropOldest(ids, limit);
      return true;
    },
    async forget(eventId) {
      ids.delete(eventId);
    },
  };
}
