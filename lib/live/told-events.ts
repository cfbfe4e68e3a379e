/**
 * What a stream of trade events has told, and from where it reads on. Events can become readable a little later than others
 * at later places, so that a stream reads its last seconds again and leaves out what it has told.
 */

import { clocksApartMs, overlapMs, placeAt, timeOf } from '../trade-events/history.ts';

/** What usually comes late comes by less than this: writes of one batch overtake each other. */
const nearMs = 1000;

interface ToldEvent {
  /** When, by the stream's own clock. */
  readonly at: number;
  /** False of what was left out, because it is another caller's. */
  readonly isOwn: boolean;
}

export class ToldEvents {
  readonly #byPlace = new Map<string, ToldEvent>();
  #from: string;
  #id: string;

  /** @param from all that is there up to this place was told */
  constructor(from: string) {
    this.#from = from;
    this.#id = from;
  }

  /** All that is there up to here; nothing will come any more at a place before it. */
  get from(): string {
    return this.#from;
  }

  /** The same for the client, with which it comes back. It says nothing of when others' events came. */
  get id(): string {
    return this.#id;
  }

  has(place: string): boolean {
    return this.#byPlace.has(place);
  }

  add(place: string, told: ToldEvent): void {
    this.#byPlace.set(place, told);
  }

  /** From here on is read what came since the last read, and what came a little late. */
  near(now: number): string {
    return this.#latest(this.#from, ({ at }) => at <= now - nearMs);
  }

  /**
   * All that could be read when the read began was told.
   *
   * @param end up to this place; undefined where there was no more
   */
  settle(began: number, end: string | undefined): void {
    const isRead = (place: string) => end === undefined || place <= end;
    const isOver = (place: string, { at }: ToldEvent) =>
      isRead(place) && (at <= began - overlapMs || timeOf(place) <= quietUntil);
    const quietUntil = began - clocksApartMs - overlapMs;
    const floor = end === undefined ? placeAt(quietUntil) : '';
    this.#id = later(
      floor,
      this.#latest(this.#id, (told, place) => told.isOwn && isOver(place, told)),
    );
    this.#from = later(
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

const later = (a: string, b: string): string => (a > b ? a : b);
