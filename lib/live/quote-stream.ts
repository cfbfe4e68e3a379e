/**
 * One stream of quotes: knows which records its client has received and which have changed. Each text is written when the
 * client is ready for it, from the records of that moment.
 */

import type { View } from '../cache/snapshots/index.ts';
import { isDue } from '../kernel/pauses.ts';
import { serverSent } from './server-sent.ts';
import { endData, type StreamTimes } from './stream-end.ts';
import type { ToldState, Topic, TopicFollower } from './topic.ts';
import type { Version } from './version.ts';

export interface QuoteStreamCall extends StreamTimes {
  readonly view: View;
  readonly symbols: readonly string[];
  /** Requests symbols that no instance has, as a request of the same client would. */
  readonly askFor: (symbols: readonly string[]) => Promise<unknown>;
}

type EndReason = QuoteStreamCall['endsFor'] | 'restart';

interface StreamParts {
  readonly clock: () => number;
  readonly random: () => number;
  readonly cause: () => string | undefined;
}

/** Wait between two beats. A client that receives nothing for 12 s knows that the stream is dead. */
const beatMs = 5000;
/** Wait between two requests for missing symbols. */
const askEveryMs = 2000;

/** State of one symbol that was last sent to the client. */
interface ToldSymbol {
  readonly version: Version | undefined;
  readonly at: number;
  readonly state: ToldState;
}

export class QuoteStream implements TopicFollower {
  readonly #call: QuoteStreamCall;
  readonly #topics: readonly Topic[];
  readonly #parts: StreamParts;
  readonly #told = new Map<Topic, ToldSymbol>();
  readonly #marked = new Set<Topic>();
  #beatAt: number;
  #askAt: number;
  #isBeatDue = false;
  #isAsking = false;
  #ended: EndReason | undefined;
  /** Failure of the upstream that was last sent to the client. */
  #cause: string | undefined;
  #wake: (() => void) | undefined;

  constructor(call: QuoteStreamCall, topics: readonly Topic[], parts: StreamParts) {
    this.#call = call;
    this.#topics = topics;
    this.#parts = parts;
    this.#beatAt = parts.clock() + beatMs;
    this.#askAt = parts.clock() + askEveryMs;
  }

  mark(topic: Topic): void {
    this.#marked.add(topic);
    this.#wake?.();
  }

  /** Handles due times: the stream's end, beats, requests for missing symbols; and a new cause of stale records. */
  turn(now: number): void {
    if (now >= this.#call.endsAt) this.end(this.#call.endsFor);
    const isHeld = ({ state }: Topic) => state === 'stale' || state === 'missing';
    if (this.#parts.cause() !== this.#cause)
      for (const topic of this.#topics.filter(isHeld)) this.mark(topic);
    if (isDue(now, this.#beatAt, beatMs)) {
      this.#beatAt = now + beatMs;
      this.#isBeatDue = true;
      this.#wake?.();
    }
    if (this.#isAsking || !isDue(now, this.#askAt, askEveryMs)) return;
    const wanted = this.#topics.filter(({ isWanted }) => isWanted).map(({ symbol }) => symbol);
    this.#isAsking = wanted.length > 0;
    const again = () => {
      this.#isAsking = false;
      this.#askAt = this.#parts.clock() + askEveryMs;
    };
    if (this.#isAsking) this.#call.askFor(wanted).then(again, again);
    else again();
  }

  end(reason: EndReason): void {
    this.#ended ??= reason;
    this.#wake?.();
  }

  async *events(): AsyncGenerator<string, void> {
    yield `retry: 1000\n\n${this.#snapshot()}`;
    while (this.#ended === undefined) {
      const text = this.#news() + this.#beat();
      if (text) yield text;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      this.#wake = undefined;
    }
    yield serverSent('end', JSON.stringify(endData(this.#ended, this.#parts.random)));
  }

  #snapshot(): string {
    const quotes: string[] = [];
    const states: [string, ToldState][] = [];
    const seen: [string, number][] = [];
    for (const topic of this.#topics) {
      const { version, at, state } = topic;
      if (version) quotes.push(version.whole);
      if (version && at > version.at) seen.push([topic.symbol, at]);
      if (state !== 'current') states.push([topic.symbol, state]);
      this.#told.set(topic, { version, at, state });
    }
    const now = this.#parts.clock();
    return serverSent(
      'snapshot',
      `{"now":${now},"quotes":[${quotes.join()}]${seenIn(seen)}${this.#stated(states)}}`,
    );
  }

  #news(): string {
    const quotes: string[] = [];
    const states: [string, ToldState][] = [];
    const cause = this.#parts.cause();
    for (const topic of this.#marked) {
      const { version, state } = topic;
      const told = this.#told.get(topic);
      if (version && version !== told?.version)
        quotes.push(told?.version ? version.since(told.version) : version.whole);
      const isHeld = state === 'stale' || state === 'missing';
      if (state !== told?.state || (isHeld && cause !== this.#cause)) states.push([topic.symbol, state]);
      this.#told.set(topic, {
        version,
        at: version === told?.version ? (told?.at ?? 0) : (version?.at ?? 0),
        state,
      });
    }
    this.#marked.clear();
    const changed = quotes.length > 0 ? serverSent('quotes', `{"quotes":[${quotes.join()}]}`) : '';
    return changed + (states.length > 0 ? serverSent('states', `{${this.#stated(states).slice(1)}}`) : '');
  }

  /** Writes the time, and the new times of records that are unchanged. */
  #beat(): string {
    if (!this.#isBeatDue) return '';
    this.#isBeatDue = false;
    const seen: [string, number][] = [];
    for (const topic of this.#topics) {
      const told = this.#told.get(topic);
      if (!told?.version || topic.at <= told.at) continue;
      seen.push([topic.symbol, topic.at]);
      this.#told.set(topic, { ...told, at: topic.at });
    }
    return serverSent('beat', `{"now":${this.#parts.clock()}${seenIn(seen)}}`);
  }

  /** Writes states, with the cause if records cannot be refreshed. */
  #stated(states: readonly (readonly [string, ToldState])[]): string {
    if (states.length === 0) return '';
    this.#cause = this.#parts.cause();
    const cause = states.some(([, state]) => state === 'stale' || state === 'missing') && this.#cause;
    const members = JSON.stringify({ states: Object.fromEntries(states), ...(cause && { cause }) });
    return `,${members.slice(1, -1)}`;
  }
}

/** Writes when the upstream was last seen to have the same records still. */
const seenIn = (seen: readonly (readonly [string, number])[]): string =>
  seen.length > 0 ? `,"at":${JSON.stringify(Object.fromEntries(seen))}` : '';
