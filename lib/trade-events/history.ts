/**
 * The trade events of the last day, for clients that follow them and come back. Each event has a place in it, and a later
 * place than all that were there before it.
 */

import type { TradeEvent, TradeEventBus } from './ports.ts';

/** An event at its place. */
export interface PlacedEvent extends Omit<TradeEvent, 'id'> {
  /** A time in milliseconds since the epoch in 15 digits, a hyphen, and the event's id. Sorts as text. */
  readonly place: string;
}

/** Port. Each method rejects when it cannot tell. */
export interface TradeEventHistory {
  /** Appends the event under each name. */
  append(names: readonly string[], event: PlacedEvent): Promise<void>;
  /** Events of one name at later places, the oldest first. It may miss what was appended within the last second. */
  after(name: string, place: string, limit: number): Promise<readonly PlacedEvent[]>;
  /** The latest place of a name; undefined where it has none. It sees every event that was appended before. */
  last(name: string): Promise<string | undefined>;
}

/** Besides its account's name, each event has this one. No account's is so short. */
export const everyName = 'every';

/** Time within which events can be told: a day, and an hour by which a client's last place may lie back. */
export const toldMs = 25 * 3_600_000;

/** Time for which an event is kept. */
export const keptMs = toldMs + 3_600_000;

/** An event can be read later than one at a later place, but by less than this. */
export const overlapMs = 15_000;

/** How far two clocks are apart at most: AWS refuses the requests of one that is off by more than five minutes. */
export const clocksApartMs = 600_000;

const timeDigits = 15;

export const placeAt = (time: number, id = ''): string =>
  `${String(Math.floor(Math.max(0, time))).padStart(timeDigits, '0')}-${id}`;

/** Time of a place. */
export const timeOf = (place: string): number => Number(place.slice(0, timeDigits));

/** A client may send any text in the place of one. */
export const isPlace = (text: string | undefined): text is string => /^\d{15}-[\w-]{0,64}$/.test(text ?? '');

interface KeptBusOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /** Told why events were not kept. */
  readonly onFailure: (error: unknown) => void;
}

/** After a failure nothing is kept for so long: the bus, which others wait for, is not held up by each event anew. */
const pauseMs = 5000;

/**
 * A bus whose events are kept, too. An event counts as taken when both have it; what one of them has is not given to it
 * again by this process.
 *
 * @example
 * const both = keptBus(bus, createMemoryTradeEventHistory(), { clock: Date.now, onFailure: console.error });
 * await both.publish([event]); // [true]
 */
export function keptBus(
  bus: TradeEventBus,
  history: Pick<TradeEventHistory, 'append' | 'last'>,
  { clock, onFailure }: KeptBusOptions,
): TradeEventBus {
  const kept = new Set<string>();
  const published = new Set<string>();
  let latest = 0;
  let notBefore = 0;

  async function keep(events: readonly TradeEvent[]): Promise<void> {
    const began = clock();
    if (events.length === 0 || began < notBefore) return;
    try {
      // Where the clock of another listener was ahead, later events have later places all the same.
      const last = await history.last(everyName);
      latest = Math.max(began, latest, last === undefined ? 0 : timeOf(last));
      const appended = await Promise.allSettled(
        events.map(({ id, detailType, detail }) =>
          history.append(namesOf(detail), { place: placeAt(++latest, id), detailType, detail }),
        ),
      );
      // Clients that follow may have read on by now.
      if (clock() - began > overlapMs / 2) throw new Error('trade events were kept too late');
      for (const [index, { status }] of appended.entries())
        if (status === 'fulfilled') kept.add(events[index]?.id ?? '');
      for (const one of appended) if (one.status === 'rejected') throw one.reason;
    } catch (error) {
      notBefore = clock() + pauseMs;
      onFailure(error);
    }
  }

  return {
    async publish(events) {
      const unpublished = events.filter(({ id }) => !published.has(id));
      const keeping = keep(events.filter(({ id }) => !kept.has(id)));
      try {
        const taken = unpublished.length > 0 ? await bus.publish(unpublished) : [];
        for (const [index, { id }] of unpublished.entries()) if (taken[index]) published.add(id);
      } finally {
        await keeping;
      }
      return events.map(
        ({ id }) => kept.has(id) && published.has(id) && kept.delete(id) && published.delete(id),
      );
    },
  };
}

function namesOf(detail: string): readonly string[] {
  const { account } = JSON.parse(detail) as { readonly account?: string };
  return account === undefined ? [everyName] : [everyName, account];
}

/** For one process: the local run, and tests. */
export function createMemoryTradeEventHistory(clock: () => number = Date.now): TradeEventHistory {
  const byName = new Map<string, PlacedEvent[]>();
  const of = (name: string) => byName.get(name) ?? [];
  return {
    async append(names, event) {
      const isYoung = ({ place }: PlacedEvent) => timeOf(place) > clock() - keptMs;
      for (const name of names) {
        const others = of(name).filter((one) => isYoung(one) && one.place !== event.place);
        byName.set(
          name,
          [...others, event].sort((a, b) => (a.place < b.place ? -1 : 1)),
        );
      }
    },
    after: async (name, place, limit) =>
      of(name)
        .filter((one) => one.place > place)
        .slice(0, limit),
    last: async (name) => of(name).at(-1)?.place,
  };
}
