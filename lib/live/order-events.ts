/**
 * Streams of trade events: each polls the stored history of its caller's accounts. Events that are not sent yet stay in the
 * history and nowhere else, so that a slow client costs nothing.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { EventsStep } from '../gateway/options.ts';
import { refused } from '../gateway/outcome.ts';
import { isReached, type Reach, type ReachNow } from '../gateway/reach.ts';
import { isDue } from '../kernel/pauses.ts';
import { isRefusal, type RefusalCode } from '../problem.ts';
import {
  clocksApartMs,
  everyName,
  isPlace,
  type PlacedEvent,
  placeAt,
  type TradeEventHistory,
  timeOf,
  toldMs,
} from '../trade-events/history.ts';
import { beatMs, endEvent, endOfRefused, type StreamTimes, serverSent, streamEnd } from './event-stream.ts';
import { HandledEvents } from './handled-events.ts';
import { openWithShare, type StreamShares } from './stream-shares.ts';

interface OrderEventsOptions {
  readonly history: Pick<TradeEventHistory, 'after'>;
  readonly names: KeyedNames;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Limits the streams of a caller. Default: a caller may have any number of streams. */
  readonly shares?: StreamShares;
  /** From 0 to below 1. */
  readonly random?: () => number;
  /** Called with the error when the history could not be read. */
  readonly onFailure?: (error: unknown) => void;
}

/** Wait between two reads of one account. Each costs half a read unit: one unit a second. */
const pollMs = 500;
/** Wait between two reads that go back as far as events may come late. */
const settleMs = 5000;
/** Events in one read of one account. */
const maxRead = 100;
/** Accounts that are read one by one. For a caller with more, the stream reads every account's events and filters them. */
const maxNames = 8;

/**
 * @example
 * const events = orderEventsStep({ history, names, clock: Date.now, sleep });
 * const gateway = createCore({ operations: [streamOrderEvents], events, ...others });
 */
export const orderEventsStep =
  (options: OrderEventsOptions): EventsStep =>
  async (request, reachNow) => {
    const { clock, shares, random = Math.random, onFailure } = options;
    const reach = await reachNow();
    if (isRefusal(reach)) return refused(reach);
    const end = streamEnd(request, clock(), random);
    return openWithShare(shares, { request, endsAt: end.endsAt }, async () => {
      const stream = new OrderEventStream(options, reachNow, request.headers['last-event-id']);
      try {
        await stream.begin(reach);
      } catch (error) {
        onFailure?.(error);
        return refused({ code: 'journal_unavailable', detail: notRead });
      }
      return stream.texts(end);
    });
  };

const notRead = 'The gateway cannot read what it keeps of trade events now.';

/** Events that were read, and are not sent yet. */
interface ReadEvents {
  readonly events: readonly PlacedEvent[];
  /** Start of the reads that go from the settled events to the end of the history; undefined for other reads. */
  readonly began: number | undefined;
  /** Last place that was read on a full page: more events may follow it. Undefined at the end of the history. */
  readonly end: string | undefined;
}

class OrderEventStream {
  readonly #options: OrderEventsOptions;
  readonly #reachNow: ReachNow;
  readonly #isResumed: boolean;
  readonly #isNew: boolean;
  readonly #handled: HandledEvents;
  readonly #names = new Map<string, string>();
  /** Place where the next read continues, if the last one left events unread. */
  #rest: (Pick<ReadEvents, 'began'> & { readonly from: string }) | undefined;
  #settleAt = 0;
  /** Reason why events cannot be sent now. */
  #cause: RefusalCode | undefined;

  /** @param lastId last event id that the client received; undefined for a client that only wants new events */
  constructor(options: OrderEventsOptions, reachNow: ReachNow, lastId: string | undefined) {
    const now = options.clock();
    this.#options = options;
    this.#reachNow = reachNow;
    this.#isNew = !lastId;
    const time = isPlace(lastId) ? timeOf(lastId) : Number.NaN;
    this.#isResumed = time > now - toldMs && time <= now + clocksApartMs;
    // A client whose id is invalid or too old may have missed any event: it receives the whole history.
    this.#handled = new HandledEvents(
      this.#isResumed ? (lastId ?? '') : placeAt(this.#isNew ? now - clocksApartMs : 0),
    );
  }

  /** Marks the events from before a new stream as sent. */
  async begin(reach: Reach): Promise<void> {
    if (!this.#isNew) return;
    const at = this.#options.clock();
    for (const name of await this.#namesIn(reach))
      for (let from: string | undefined = this.#handled.from; from !== undefined; ) {
        const read = await this.#options.history.after(name, from, maxRead);
        for (const event of read) this.#handled.add(event.place, { at, isSent: mayRead(reach, event) });
        from = read.length < maxRead ? undefined : read.at(-1)?.place;
      }
  }

  async *texts({ endsAt, endsFor }: StreamTimes): AsyncGenerator<string, void> {
    const { clock, sleep, random = Math.random } = this.#options;
    yield `retry: 1000\n\n${this.#text('start', JSON.stringify({ now: clock(), resumed: this.#isResumed }))}`;
    for (let beatAt = clock() + beatMs; clock() < endsAt; ) {
      const reach = await this.#reachNow();
      const end = isRefusal(reach) && endOfRefused(reach, random);
      if (end) {
        yield end;
        return;
      }
      if (isRefusal(reach)) {
        this.#cause = reach.code;
        this.#rest = undefined;
      } else yield* this.#changes(reach, endsAt);
      if (isDue(clock(), beatAt, beatMs)) {
        beatAt = clock() + beatMs;
        const cause = this.#cause && { cause: this.#cause };
        yield this.#text('beat', JSON.stringify({ now: clock(), ...cause }));
      }
      if (!this.#rest) await sleep(Math.max(0, Math.min(pollMs, endsAt - clock())));
    }
    yield endEvent(endsFor, random);
  }

  /** Yields events in the order of their places. With a slow client it stops early, so that rights are checked again. */
  async *#changes(reach: Reach, endsAt: number): AsyncGenerator<string, void> {
    const { clock } = this.#options;
    const read = await this.#read(reach);
    this.#rest = undefined;
    if (!read) return;
    const until = Math.min(clock() + pollMs, endsAt);
    for (const event of read.events) {
      const isSent = mayRead(reach, event);
      if (isSent && clock() >= until) return;
      this.#handled.add(event.place, { at: clock(), isSent });
      // The upstream's JSON in the detail stays unchanged.
      const data = `{"source":"countersign","detail-type":"${event.detailType}","detail":${event.detail}}`;
      if (isSent) yield this.#text('change', data);
    }
    const { began, end } = read;
    if (began !== undefined) this.#handled.settle(began, end);
    if (end !== undefined) this.#rest = { began, from: end };
  }

  async #read(reach: Reach): Promise<ReadEvents | undefined> {
    const { history, clock, onFailure } = this.#options;
    const now = clock();
    const settles = !this.#rest && isDue(now, this.#settleAt, settleMs);
    if (settles) this.#settleAt = now + settleMs;
    const began = this.#rest ? this.#rest.began : settles ? now : undefined;
    const from = this.#rest?.from ?? (settles ? this.#handled.from : this.#handled.near(now));
    try {
      const names = await this.#namesIn(reach);
      const pages = await Promise.all(names.map((name) => history.after(name, from, maxRead)));
      this.#cause = undefined;
      const [end] = pages.flatMap((page) => page[maxRead - 1]?.place ?? []).sort();
      const fresh = new Map<string, PlacedEvent>();
      for (const event of pages.flat()) {
        const isBeyond = end !== undefined && event.place > end;
        if (!isBeyond && !this.#handled.has(event.place)) fresh.set(event.place, event);
      }
      return { events: [...fresh.values()].sort(byPlace), began, end };
    } catch (error) {
      onFailure?.(error);
      this.#cause = 'journal_unavailable';
      this.#settleAt = 0;
      return undefined;
    }
  }

  async #namesIn(reach: Reach): Promise<readonly string[]> {
    if (reach.scope === 'every') return [everyName];
    const accounts = [...reach.accounts.keys()].filter((account) => isReached(reach, account));
    if (accounts.length > maxNames) return [everyName];
    return Promise.all(accounts.map((account) => this.#nameOf(account)));
  }

  async #nameOf(account: string): Promise<string> {
    const name = this.#names.get(account) ?? (await this.#options.names.nameOf('account', account));
    this.#names.set(account, name);
    return name;
  }

  #text(event: string, data: string): string {
    return `id: ${this.#handled.id}\n${serverSent(event, data)}`;
  }
}

/** Whether the caller may see an event. Every event is checked, wherever it was read. */
function mayRead(reach: Reach, { detail }: PlacedEvent): boolean {
  if (reach.scope === 'every') return true;
  const { account_id } = JSON.parse(detail) as { readonly account_id?: string };
  return account_id !== undefined && isReached(reach, account_id);
}

const byPlace = (a: PlacedEvent, b: PlacedEvent): number => (a.place < b.place ? -1 : 1);
