/**
 * Streams of quotes: one loop for all streams of a process. At each turn it refreshes the snapshots as a request would,
 * looks at each followed symbol, and marks the changed ones in each stream. A stream holds marks and no queue: a client
 * that reads slowly skips values, and costs no other client anything.
 */

import { demandWeight, type FollowedSnapshots } from '../cache/snapshots/index.ts';
import { isDue } from '../kernel/pauses.ts';
import { QuoteStream, type QuoteStreamCall, type QuoteStreamParts } from './quote-stream.ts';
import { createTopic, type Topic, updateTopic } from './topic.ts';

interface QuoteHubOptions extends QuoteStreamParts {
  readonly snapshots: Pick<FollowedSnapshots, 'follow' | 'look' | 'count'>;
  /** Whether the snapshots are still refreshed with the gateway's own app key and limits. */
  readonly isCurrent: () => Promise<boolean>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called with the error when a turn fails; the loop goes on. */
  readonly onFailure: (error: unknown) => void;
}

/** Duration of a turn: two fit into the 250 ms within which a stream sends a change. */
const turnMs = 100;
/** Time for which a turn waits for records of other instances: a round trip to the store and some more. */
const readMs = 40;
/** Interval at which demand is counted: a followed symbol is in demand like one that a client polls each 5 s. */
const demandEveryMs = 5000;
const countsPerMinute = 60_000 / demandEveryMs;

export class QuoteHub {
  readonly #options: QuoteHubOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #streams = new Set<QuoteStream>();
  /** Number of symbols that each caller's streams follow, summed over the streams. */
  readonly #followed = new Map<string, number>();
  #isRunning = false;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Checks in a row that found the snapshots not current. */
  #notCurrentInRow = 0;

  constructor(options: QuoteHubOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Texts of a stream's events. The stream is open from the first `next` until its iterator ends or returns. */
  async *open(call: QuoteStreamCall): AsyncGenerator<string, void> {
    const { caller, view, symbols } = call;
    const topics = [...new Set(symbols)].map((symbol) => this.#topicOf({ view, symbol }));
    const stream = new QuoteStream(call, topics, this.#options);
    for (const topic of topics) topic.streams.add(stream);
    this.#streams.add(stream);
    this.#follow(caller, topics.length);
    if (!this.#isRunning) void this.#run();
    try {
      yield* stream.events();
    } finally {
      this.#streams.delete(stream);
      this.#follow(caller, -topics.length);
      for (const topic of topics) {
        topic.streams.delete(stream);
        if (topic.streams.size === 0) this.#topics.delete(keyOf(topic));
      }
    }
  }

  /** Ends all streams; their clients connect again. */
  close(): void {
    for (const stream of this.#streams) stream.end('restart');
  }

  #topicOf({ view, symbol }: Pick<Topic, 'view' | 'symbol'>): Topic {
    const key = keyOf({ view, symbol });
    const found = this.#topics.get(key);
    if (found) return found;
    const topic = createTopic(view, symbol);
    this.#look(topic);
    this.#topics.set(key, topic);
    return topic;
  }

  #follow(caller: string, symbols: number): void {
    const count = (this.#followed.get(caller) ?? 0) + symbols;
    if (count > 0) this.#followed.set(caller, count);
    else this.#followed.delete(caller);
  }

  async #run(): Promise<void> {
    const { clock, sleep, onFailure, snapshots } = this.#options;
    this.#isRunning = true;
    while (this.#streams.size > 0) {
      const startedAt = clock();
      // A refresh takes as long as the upstream does. No stream waits for it: other instances' records arrive meanwhile.
      await Promise.race([snapshots.follow().catch(onFailure), sleep(readMs)]);
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
    const { isCurrent, onFailure } = this.#options;
    const isCounted = isDue(now, this.#countedAt + demandEveryMs, demandEveryMs);
    if (isCounted) {
      this.#countedAt = now;
      isCurrent().then((isStill) => this.#noteCurrent(isStill), onFailure);
    }
    for (const topic of this.#topics.values())
      try {
        if (isCounted) this.#count(topic);
        if (this.#look(topic)) for (const stream of topic.streams) stream.mark(topic);
      } catch (error) {
        onFailure(error);
      }
    for (const stream of this.#streams) stream.checkDue(now);
  }

  /** Closes the hub after two checks in a row that find it not current: versions of a secret may alternate. */
  #noteCurrent(isCurrent: boolean): void {
    this.#notCurrentInRow = isCurrent ? 0 : this.#notCurrentInRow + 1;
    if (this.#notCurrentInRow > 1) this.close();
  }

  /** Counts one request for each stream of the topic. A caller with many streams counts no more than other callers. */
  #count({ view, symbol, streams }: Topic): void {
    let times = 0;
    for (const { caller } of streams)
      times += demandWeight(countsPerMinute * (this.#followed.get(caller) ?? 0));
    this.#options.snapshots.count(view, symbol, times);
  }

  #look(topic: Topic): boolean {
    return updateTopic(topic, this.#options.snapshots.look(topic.view, topic.symbol));
  }
}

const keyOf = ({ view, symbol }: Pick<Topic, 'view' | 'symbol'>): string => `${view.id} ${symbol}`;
