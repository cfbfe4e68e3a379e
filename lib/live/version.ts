/**
 * One version of a record, and its texts for streams: the whole record, or the members that differ from an earlier version.
 * Streams share versions, so that each text is written once for all of them.
 */

import { textOf, type WrittenMember, writtenMembers } from '../kernel/json-members.ts';

export class Version {
  readonly symbol: string;
  readonly record: Uint8Array;
  /** Time just before the upstream was asked, in milliseconds since the epoch. */
  readonly at: number;
  #members: ReadonlyMap<string, WrittenMember> | undefined;
  #whole: string | undefined;
  readonly #changes = new WeakMap<Version, string>();

  constructor({ symbol, record, sentAt }: { symbol: string; record: Uint8Array; sentAt: number }) {
    this.symbol = symbol;
    this.record = record;
    this.at = sentAt;
  }

  /** Text with the record byte for byte as the upstream wrote it. */
  get whole(): string {
    this.#whole ??= `{${this.#head},"record":${textOf(this.record)}}`;
    return this.#whole;
  }

  /** Text with the members that are new or differ, byte for byte; the whole record if members of the earlier one are gone. */
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
