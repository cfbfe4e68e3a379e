/**
 * Remembers the events that a stream has handled, and the place from which it reads on. An event can become readable a little
 * later than others at later places, so a stream reads its last seconds again and skips the events that it has handled.
 */

import { clocksApartMs, overlapMs, placeAt, timeOf } from '../trade-events/history.ts';

/** Usual delay of late events, at most: writes of one batch overtake each other. */
const nearMs = 1000;

interface HandledEvent {
  /** Time of handling, by the stream's own clock. */
  readonly at: number;
  /** False for an event that was left out, because it belongs to another caller. */
  readonly isSent: boolean;
}

export class HandledEvents {
  readonly #byPlace = new Map<string, HandledEvent>();
  /** Place up to which every event was handled; no further event can appear before it. */
  from: string;
  /** Place with which the client resumes. Unlike `from`, it does not reveal when other callers' events came. */
  id: string;

  /** @param from place up to which every event was handled */
  constructor(from: string) {
    this.from = from;
    this.id = from;
  }

  has(place: string): boolean {
    return this.#byPlace.has(place);
  }

  add(place: string, event: HandledEvent): void {
    this.#byPlace.set(place, event);
  }

  /** Place from which a read finds new events, and those that are a little late. */
  near(now: number): string {
    return this.#latest(this.from, (_, { at }) => at <= now - nearMs);
  }

  /**
   * Advances `from` and `id` after a read: every event that could be read when it began is handled.
   *
   * @param end last place that was read; undefined when the read reached the end of the history
   */
  settle(began: number, end: string | undefined): void {
    const quietUntil = began - clocksApartMs - overlapMs;
    const floor = end === undefined ? placeAt(quietUntil) : '';
    const isOver = (place: string, { at }: HandledEvent) =>
      (end === undefined || place <= end) && (at <= began - overlapMs || timeOf(place) <= quietUntil);
    this.id = this.#latest(later(floor, this.id), (place, event) => event.isSent && isOver(place, event));
    this.from = this.#latest(later(floor, this.from), isOver);
    for (const place of this.#byPlace.keys()) if (place <= this.from) this.#byPlace.delete(place);
  }

  #latest(first: string, isMeant: (place: string, event: HandledEvent) => boolean): string {
    let latest = first;
    for (const [place, event] of this.#byPlace) if (place > latest && isMeant(place, event)) latest = place;
    return latest;
  }
}

const later = (a: string, b: string): string => (a > b ? a : b);
