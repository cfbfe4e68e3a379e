/**
 * One stream of quotes: knows which records its client has received and which have changed. Each text is written when the
 * client is ready for it, from the records of that moment.
 */

import type { View } from '../cache/snapshots/index.ts';
import { isDue } from '../kernel/pauses.ts';
import { beatMs, endEvent, type StreamTimes, serverSent } from './event-stream.ts';
import type { QuoteState, Topic, TopicFollower } from './topic.ts';

export interface QuoteStreamCall extends StreamTimes {
  /** The caller's unit of fairness. */
  readonly caller: string;
  readonly view: View;
  readonly symbols: readonly string[];
  /** Requests symbols that no instance has, as a request of the same client would. */
  readonly askFor: (symbols: readonly string[]) => Promise<unknown>;
}

export interface QuoteStreamParts {
  readonly clock: () => number;
  readonly random: () => number;
  /** Code of the upstream's present failure, which keeps records from being refreshed. */
  readonly cause: () => string | undefined;
}

/** Wait between two requests for missing symbols. */
const askEveryMs = 2000;

type EndReason = StreamTimes['endsFor'] | 'restart';

/** State of one symbol that was last sent to the client. */
type SentQuote = Pick<Topic, 'version' | 'at' | 'state'>;

export class QuoteStream implements TopicFollower {
  readonly caller: string;
  readonly #call: QuoteStreamCall;
  readonly #topics: readonly Topic[];
  readonly #parts: QuoteStreamParts;
  readonly #sent = new Map<Topic, SentQuote>();
  readonly #marked = new Set<Topic>();
  #beatAt: number;
  #askAt: number;
  #isBeatDue = false;
  #isAsking = false;
  #endReason: EndReason | undefined;
  /** Failure of the upstream that was last sent to the client. */
  #sentCause: string | undefined;
  #wake: (() => void) | undefined;

  constructor(call: QuoteStreamCall, topics: readonly Topic[], parts: QuoteStreamParts) {
    this.caller = call.caller;
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
  checkDue(now: number): void {
    if (now >= this.#call.endsAt) this.end(this.#call.endsFor);
    if (this.#parts.cause() !== this.#sentCause)
      for (const topic of this.#topics) if (needsRefresh(topic.state)) this.mark(topic);
    if (isDue(now, this.#beatAt, beatMs)) {
      this.#beatAt = now + beatMs;
      this.#isBeatDue = true;
      this.#wake?.();
    }
    if (!this.#isAsking && isDue(now, this.#askAt, askEveryMs)) this.#askForMissing();
  }

  #askForMissing(): void {
    const wanted = this.#topics.filter(({ isWanted }) => isWanted).map(({ symbol }) => symbol);
    this.#isAsking = wanted.length > 0;
    const done = () => {
      this.#isAsking = false;
      this.#askAt = this.#parts.clock() + askEveryMs;
    };
    if (this.#isAsking) this.#call.askFor(wanted).then(done, done);
    else done();
  }

  /** Ends the stream; the first reason counts. */
  end(reason: EndReason): void {
    this.#endReason ??= reason;
    this.#wake?.();
  }

  async *events(): AsyncGenerator<string, void> {
    yield `retry: 1000\n\n${this.#snapshot()}`;
    while (this.#endReason === undefined) {
      const text = this.#changes() + this.#beat();
      if (text) yield text;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      this.#wake = undefined;
    }
    yield endEvent(this.#endReason, this.#parts.random);
  }

  #snapshot(): string {
    const quotes: string[] = [];
    const states: [string, QuoteState][] = [];
    const seen: [string, number][] = [];
    for (const topic of this.#topics) {
      const { version, at, state } = topic;
      if (version) quotes.push(version.whole);
      if (version && at > version.at) seen.push([topic.symbol, at]);
      if (state !== 'current') states.push([topic.symbol, state]);
      this.#sent.set(topic, { version, at, state });
    }
    const now = this.#parts.clock();
    return serverSent(
      'snapshot',
      `{"now":${now},"quotes":[${quotes.join()}]${formatLastSeen(seen)}${this.#formatStates(states)}}`,
    );
  }

  #changes(): string {
    const quotes: string[] = [];
    const states: [string, QuoteState][] = [];
    const hasNewCause = this.#parts.cause() !== this.#sentCause;
    for (const topic of this.#marked) {
      const { version, state } = topic;
      const sent = this.#sent.get(topic);
      const isNew = version !== sent?.version;
      if (version && isNew) quotes.push(sent?.version ? version.since(sent.version) : version.whole);
      if (state !== sent?.state || (hasNewCause && needsRefresh(state))) states.push([topic.symbol, state]);
      this.#sent.set(topic, { version, at: (isNew ? version : sent)?.at ?? 0, state });
    }
    this.#marked.clear();
    const changed = quotes.length > 0 ? serverSent('quotes', `{"quotes":[${quotes.join()}]}`) : '';
    return (
      changed + (states.length > 0 ? serverSent('states', `{${this.#formatStates(states).slice(1)}}`) : '')
    );
  }

  /** Writes the time, and the new times of records that are unchanged. */
  #beat(): string {
    if (!this.#isBeatDue) return '';
    this.#isBeatDue = false;
    const seen: [string, number][] = [];
    for (const topic of this.#topics) {
      const sent = this.#sent.get(topic);
      if (!sent?.version || topic.at <= sent.at) continue;
      seen.push([topic.symbol, topic.at]);
      this.#sent.set(topic, { ...sent, at: topic.at });
    }
    return serverSent('beat', `{"now":${this.#parts.clock()}${formatLastSeen(seen)}}`);
  }

  /** Writes states, with the cause if records cannot be refreshed. */
  #formatStates(states: readonly (readonly [string, QuoteState])[]): string {
    if (states.length === 0) return '';
    this.#sentCause = this.#parts.cause();
    const cause = states.some(([, state]) => needsRefresh(state)) && this.#sentCause;
    const members = JSON.stringify({ states: Object.fromEntries(states), ...(cause && { cause }) });
    return `,${members.slice(1, -1)}`;
  }
}

const needsRefresh = (state: QuoteState): boolean => state === 'stale' || state === 'missing';

/** Writes when the upstream was last seen to have the same records still. */
const formatLastSeen = (seen: readonly (readonly [string, number])[]): string =>
  seen.length > 0 ? `,"at":${JSON.stringify(Object.fromEntries(seen))}` : '';
