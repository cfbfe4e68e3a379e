/**
 * Remembers the events that a stream has sent, and the place from which it reads on. An event can become readable a little
 * later than others at later places, so a stream reads its last seconds again and leaves out the events that it has sent.
 */

import { clocksApartMs, overlapMs, placeAt, timeOf } from '../trade-events/history.ts';

/** Usual delay of late events, at most: writes of one batch overtake each other. */
const nearMs = 1000;

interface ToldEvent {
  /** Time of sending, by the stream's own clock. */
  readonly at: number;
  /** False for an event that was left out, because it belongs to another caller. */
  readonly isOwn: boolean;
}

export class ToldEvents {
  readonly #byPlace = new Map<string, ToldEvent>();
  #from: string;
  #id: string;

  /** @param from place up to which every event was sent */
  constructor(from: string) {
    this.#from = from;
    this.#id = from;
  }

  /** Place up to which every event was handled; no further event can appear before it. */
  get from(): string {
    return this.#from;
  }

  /** Place with which the client resumes. Unlike `from`, it does not reveal when other callers' events came. */
  get id(): string {
    return this.#id;
  }

  has(place: string): boolean {
    return this.#byPlace.has(place);
  }

  add(place: string, told: ToldEvent): void {
    this.#byPlace.set(place, told);
  }

  /** Place from which a read finds new events, and those that are a little late. */
  near(now: number): string {
    return this.#latest(this.#from, ({ at }) => at <= now - nearMs);
  }

  /**
   * Advances `from` and `id` after a read: every event that could be read when it began is handled.
   *
   * @param end last place that was read; undefined when the read reached the end of the history
   */
  settle(began: number, end: string | undefined): void {
    const isRead = (place: string) => end === undefined || place <= end;
    const isOver = (place: string, { at }: ToldEvent) =>
      isRead(place) && (at <= began - overlapMs || timeOf(place) <= quietUntil);
    const quietUntil = began - clocksApartMs - overlapMs;
    const floor = end === undefined ? placeAt(quietUntil) : '';
    this.#id = laterPlace(
      floor,
      this.#latest(this.#id, (told, place) => told.isOwn && isOver(place, told)),
    );
    this.#from = laterPlace(
      floor,
      this.#latest(this.#from, (told, place) => isOver(place, told)),
    );
    for (const place of this.#byPlace.keys()) if (place <= this.#from) this.#byPlace.delete(place);
  }

  #latest(first: string, isMeant: (told: ToldEvent, place: string) => boolean): string {
    let latest = first;
    for (const [place, told] of this.#byPlace) if (place > latest && isMeant(told, place)) latest = place;
    return latest;
  }
}

const laterPlace = (a: string, b: string): string => (a > b ? a : b);
