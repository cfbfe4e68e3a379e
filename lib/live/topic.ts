/** One followed symbol of a view in this process: what is known of it, and its texts for the streams that follow it. */

import type { Look, View } from '../cache/snapshots/index.ts';
import { textOf, type WrittenMember, writtenMembers } from '../kernel/json-members.ts';

/**
 * - `current`: the record is not older than the soft bound.
 * - `stale`: the record is older; the upstream could not be asked meanwhile.
 * - `unknown`: the upstream does not know the symbol.
 * - `missing`: there is no record that may be served.
 */
export type QuoteState = 'current' | 'stale' | 'unknown' | 'missing';

/** A stream that follows topics. */
export interface TopicFollower {
  /** The stream's unit of fairness. */
  readonly caller: string;
  /** Marks a topic whose change the stream has to send. */
  mark(topic: Topic): void;
}

export interface Topic {
  readonly view: View;
  readonly symbol: string;
  version: Version | undefined;
  /** Time at which the upstream was last seen to have this version, in milliseconds since the epoch. */
  at: number;
  /** Record of the last look at the cache; it may be another copy of the version's record. */
  seen: Uint8Array | undefined;
  state: QuoteState;
  /** Whether a request to the upstream may bring a record that no instance has. */
  isWanted: boolean;
  readonly streams: Set<TopicFollower>;
}

export const createTopic = (view: View, symbol: string): Topic => ({
  view,
  symbol,
  version: undefined,
  at: 0,
  seen: undefined,
  state: 'missing',
  isWanted: true,
  streams: new Set(),
});

/** Updates a topic from a look at the cache. @returns whether streams have a change to send */
export function updateTopic(topic: Topic, look: Look): boolean {
  const state = look.kind !== 'known' ? look.kind : look.stale ? 'stale' : 'current';
  const isOther = state !== topic.state;
  topic.state = state;
  topic.isWanted = look.kind === 'missing' || (look.kind === 'unknown' && look.mayExist === true);
  if (look.kind !== 'known') {
    // Drops a record that is older than the hard bound, or whose symbol is gone.
    [topic.version, topic.at, topic.seen] = [undefined, 0, undefined];
    return isOther;
  }
  const { sentAt, record } = look.snapshot;
  if (sentAt < topic.at) return isOther;
  topic.at = sentAt;
  if (record === topic.seen) return isOther;
  topic.seen = record;
  if (topic.version && sameBytes(topic.version.record, record)) return isOther;
  topic.version = new Version(look.snapshot);
  return true;
}

/**
 * One version of a record, and its texts for streams: the whole record, or the members that differ from an earlier version.
 * Streams share versions, so that each text is written once for all of them.
 */
export class Version {
  readonly record: Uint8Array;
  /** Time just before the upstream was asked, in milliseconds since the epoch. */
  readonly at: number;
  /** First members of each text. */
  readonly #head: string;
  #members: ReadonlyMap<string, WrittenMember> | undefined;
  #whole: string | undefined;
  readonly #changes = new WeakMap<Version, string>();

  constructor({ symbol, record, sentAt }: { symbol: string; record: Uint8Array; sentAt: number }) {
    this.record = record;
    this.at = sentAt;
    this.#head = `"symbol":${JSON.stringify(symbol)},"at":${sentAt}`;
  }

  /** Text with the record byte for byte as the upstream wrote it. */
  get whole(): string {
    this.#whole ??= `{${this.#head},"record":${textOf(this.record)}}`;
    return this.#whole;
  }

  /** Text with the members that are new or differ, byte for byte; the whole record if members of the earlier one are gone. */
  since(earlier: Version): string {
    const text = this.#changes.get(earlier) ?? this.#since(earlier.#written, this.#written);
    this.#changes.set(earlier, text);
    return text;
  }

  #since(before: ReadonlyMap<string, WrittenMember>, now: ReadonlyMap<string, WrittenMember>): string {
    for (const name of before.keys()) if (!now.has(name)) return this.whole;
    const set: string[] = [];
    for (const [name, { text }] of now)
      if (before.get(name)?.text !== text) set.push(`${JSON.stringify(name)}:${text}`);
    return `{${this.#head},"set":{${set.join()}}}`;
  }

  get #written(): ReadonlyMap<string, WrittenMember> {
    this.#members ??= writtenMembers(this.record) ?? new Map();
    return this.#members;
  }
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && a.every((byte, at) => byte === b[at]));
