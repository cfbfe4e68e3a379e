/**
 * Streams of quotes: one loop for all of a process. At each turn it does what a request would do, looks at each symbol
 * that anybody follows, and marks in each stream what changed. A stream holds marks and no queue: a client that reads
 * slowly skips values, and costs no other client anything.
 */

import type { Look, View } from '../cache/snapshots/index.ts';
import { isDue } from '../kernel/pauses.ts';
import { QuoteStream, type QuoteStreamCall } from './quote-stream.ts';
import type { Topic } from './topic.ts';
import { sameBytes, Version } from './version.ts';

/** What the loop follows: a snapshot cache, and why it cannot be kept fresh. */
export interface QuoteSource {
  follow(): Promise<void>;
  look(view: View, symbol: string): Look;
  /** Counts a request of each stream that follows the symbol. */
  count(view: View, symbol: string): void;
  /** The code of the upstream's failure, while there is one. */
  cause(): string | undefined;
  /** Whether what it refreshes with is still the gateway's: its app key, and its limits. */
  isCurrent(): Promise<boolean>;
}

export interface QuoteHubOptions {
  readonly source: QuoteSource;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** Told what made a turn fail; the loop goes on. */
  readonly onFailure: (error: unknown) => void;
}

/** Twice within the 250 ms in which a stream tells what is known. */
export const turnMs = 100;
/** How long a turn waits for what others wrote: a trip to the store and some. */
const readMs = 40;
/** As often as a client that polls asks: what is followed is in demand as what is asked for. */
const demandEveryMs = 5000;

export class QuoteHub {
  readonly #options: QuoteHubOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #streams = new Set<QuoteStream>();
  #isRunning = false;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** How often in a row the source was not current. */
  #pasts = 0;

  constructor(options: QuoteHubOptions) {
    this.#options = options;
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size;
  }

  /** The texts of a stream's events. It is open from the first one that is asked for, until its iterator ends or returns. */
  open(call: QuoteStreamCall): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => this.#follow(call) };
  }

  /** Ends all streams; their clients come back. */
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
      // A refresh takes as long as the upstream does. No stream waits for it: what others fetched comes meanwhile.
      await Promise.race([source.follow().catch(onFailure), sleep(readMs)]);
      try {
        this.#turn(clock());
      } catch (error) {
        onFailure(error);
      }
      // A clock may be set back meanwhile.
      await sleep(Math.min(turnMs, Math.max(0, startedAt + turnMs - clock())));
    }
    this.#isRunning = false;
  }

  #turn(now: number): void {
    const { source, onFailure } = this.#options;
    const isCounted = isDue(now, this.#countedAt + demandEveryMs, demandEveryMs);
    if (isCounted) {
      this.#countedAt = now;
      source.isCurrent().then((isCurrent) => this.#hear(isCurrent), onFailure);
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

  /** Twice in a row, because versions of a secret may alternate. */
  #hear(isCurrent: boolean): void {
    this.#pasts = isCurrent ? 0 : this.#pasts + 1;
    if (this.#pasts > 1) this.close();
  }

  /** Takes over what is known of a symbol, and returns whether a stream has anything to tell of it. */
  #look(topic: Topic): boolean {
    const look = this.#options.source.look(topic.view, topic.symbol);
    const state = look.kind !== 'known' ? look.kind : look.stale ? 'stale' : 'current';
    const isOther = state !== topic.state;
    topic.state = state;
    topic.isWanted = look.kind === 'missing' || (look.kind === 'unknown' && look.mayExist === true);
    // Beyond the hard bound, or of a symbol that is gone, a record is not shown.
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
