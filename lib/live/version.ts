/**
 * One record as it was at one moment, and what a stream tells of it: the whole record, or the members that differ from
 * an earlier one. Streams share versions, so that what many of them tell is written once.
 */

import { textOf, type WrittenMember, writtenMembers } from '../kernel/json-members.ts';

export class Version {
  readonly symbol: string;
  readonly record: Uint8Array;
  /** Just before the upstream was asked, in milliseconds since the epoch. */
  readonly at: number;
  #members: ReadonlyMap<string, WrittenMember> | undefined;
  #whole: string | undefined;
  readonly #changes = new WeakMap<Version, string>();

  constructor({ symbol, record, sentAt }: { symbol: string; record: Uint8Array; sentAt: number }) {
    this.symbol = symbol;
    this.record = record;
    this.at = sentAt;
  }

  /** With the record byte for byte as the upstream wrote it. */
  get whole(): string {
    this.#whole ??= `{${this.#head},"record":${textOf(this.record)}}`;
    return this.#whole;
  }

  /** The members that are new or differ, each with the text that the upstream wrote; whole if the earlier one had more. */
  since(earlier: Version): string {
    const known = this.#changes.get(earlier) ?? this.#since(earlier);
    this.#changes.set(earlier, known);
    return known;
  }

  #since(earlier: Version): string {
    const [before, now] = [earlier.#written, this.#written];
    for (const name of before.keys()) if (!now.has(name)) return this.whole;
    const set: string[] = [];
    for (const [name, { text }] of now)
      if (before.get(name)?.text !== text) set.push(`${JSON.stringify(name)}:${text}`);
    return `{${this.#head},"set":{${set.join()}}}`;
  }

  get #head(): string {
    return `"symbol":${JSON.stringify(this.symbol)},"at":${this.at}`;
  }

  get #written(): ReadonlyMap<string, WrittenMember> {
    this.#members ??= writtenMembers(this.record) ?? new Map();
    return this.#members;
  }
}

/** Whether two records are the same bytes. */
export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && a.every((byte, at) => byte === b[at]));
