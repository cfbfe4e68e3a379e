/**
 * Streams of quotes: one loop for all streams of a process. At each turn it refreshes the snapshots as a request would,
 * looks at each followed symbol, and marks the changed ones in each stream. A stream holds marks and no queue: a client
 * that reads slowly skips values, and costs no other client anything.
 */

import type { Look, View } from '../cache/snapshots/index.ts';
import { isDue } from '../kernel/pauses.ts';
import { QuoteStream, type QuoteStreamCall } from './quote-stream.ts';
import type { Topic } from './topic.ts';
import { sameBytes, Version } from './version.ts';

/** Source of the loop: a snapshot cache, and the reason why it cannot be kept fresh. */
interface QuoteSource {
  follow(): Promise<void>;
  look(view: View, symbol: string): Look;
  /** Counts demand for the symbol: one request for each stream that follows it. */
  count(view: View, symbol: string): void;
  /** Code of the upstream's present failure. */
  cause(): string | undefined;
  /** Whether the source still refreshes with the gateway's own app key and limits. */
  isCurrent(): Promise<boolean>;
}

export interface QuoteHubOptions {
  readonly source: QuoteSource;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** Called with the error when a turn fails; the loop goes on. */
  readonly onFailure: (error: unknown) => void;
}

/** Duration of a turn: two fit into the 250 ms within which a stream sends a change. */
const turnMs = 100;
/** Time for which a turn waits for records of other instances: a round trip to the store and some more. */
const readMs = 40;
/** Interval at which demand is counted: a followed symbol is in demand like one that a client polls each 5 s. */
const demandEveryMs = 5000;

export class QuoteHub {
  readonly #options: QuoteHubOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #streams = new Set<QuoteStream>();
  #isRunning = false;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Checks in a row that found the source not current. */
  #notCurrentInRow = 0;

  constructor(options: QuoteHubOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Texts of a stream's events. The stream is open from the first `next` until its iterator ends or returns. */
  open(call: QuoteStreamCall): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => this.#follow(call) };
  }

  /** Ends all streams; their clients connect again. */
  close(): void {
    for (const stream of this.#streams) stream.end('restart');
  }

  async *#follow(call: QuoteStreamCall): AsyncGenerator<string, void> {
    const { source, clock, random } = this.#options;
    const topics = [...new Set(call.symbols)].map((symbol) => this.#topicOf(call.view, symbol));
    const stream = new QuoteStream(call, topics, { clock, random, cause: source.cause });
    for (const topic of topics) topic.streams.add(stream);
    this.#streams.add(stream);
    if (!this.#isRunning) void this.#run();
    try {
      yield* stream.events();
    } finally {
      this.#streams.delete(stream);
      for (const topic of topics) {
        topic.streams.delete(stream);
        if (topic.streams.size === 0) this.#topics.delete(keyOf(topic));
      }
    }
  }

  #topicOf(view: View, symbol: string): Topic {
    const key = keyOf({ view, symbol });
    const found = this.#topics.get(key);
    if (found) return found;
    const unseen = { version: undefined, at: 0, seen: undefined, state: 'missing', isWanted: true } as const;
    const topic: Topic = { view, symbol, ...unseen, streams: new Set() };
    this.#look(topic);
    this.#topics.set(key, topic);
    return topic;
  }

  async #run(): Promise<void> {
    const { clock, sleep, onFailure, source } = this.#options;
    this.#isRunning = true;
    while (this.#streams.size > 0) {
      const startedAt = clock();
      // A refresh takes as long as the upstream does. No stream waits for it: other instances' records arrive meanwhile.
      await Promise.race([source.follow().catch(onFailure), sleep(readMs)]);
      try {
        this.#turn(clock());
      } catch (error) {
        onFailure(error);
      }
      // Bounded on both sides, because the clock may be set back meanwhile.
      await sleep(Math.min(turnMs, Math.max(0, startedAt + turnMs - clock())));
    }
    this.#isRunning = false;
  }

  #turn(now: number): void {
    const { source, onFailure } = this.#options;
    const isCounted = isDue(now, this.#countedAt + demandEveryMs, demandEveryMs);
    if (isCounted) {
      this.#countedAt = now;
      source.isCurrent().then((isCurrent) => this.#noteCurrent(isCurrent), onFailure);
    }
    for (const topic of this.#topics.values()) {
      const { view, symbol, streams } = topic;
      try {
        if (isCounted) source.count(view, symbol);
        if (this.#look(topic)) for (const stream of streams) stream.mark(topic);
      } catch (error) {
        onFailure(error);
      }
    }
    for (const stream of this.#streams) stream.turn(now);
  }

  /** Closes the hub after two checks in a row that find it not current: versions of a secret may alternate. */
  #noteCurrent(isCurrent: boolean): void {
    this.#notCurrentInRow = isCurrent ? 0 : this.#notCurrentInRow + 1;
    if (this.#notCurrentInRow > 1) this.close();
  }

  /** Reads a symbol's state from the cache. @returns whether streams have a change to send */
  #look(topic: Topic): boolean {
    const look = this.#options.source.look(topic.view, topic.symbol);
    const state = look.kind !== 'known' ? look.kind : look.stale ? 'stale' : 'current';
    const isOther = state !== topic.state;
    topic.state = state;
    topic.isWanted = look.kind === 'missing' || (look.kind === 'unknown' && look.mayExist === true);
    // Drops a record that is older than the hard bound, or whose symbol is gone.
    if (look.kind !== 'known') [topic.version, topic.at, topic.seen] = [undefined, 0, undefined];
    if (look.kind !== 'known' || look.snapshot.sentAt < topic.at) return isOther;
    const { sentAt, record } = look.snapshot;
    topic.at = sentAt;
    if (record === topic.seen) return isOther;
    topic.seen = record;
    if (topic.version && sameBytes(topic.version.record, record)) return isOther;
    topic.version = new Version(look.snapshot);
    return true;
  }
}

const keyOf = ({ view, symbol }: Pick<Topic, 'view' | 'symbol'>): string => `${view.id} ${symbol}`;
