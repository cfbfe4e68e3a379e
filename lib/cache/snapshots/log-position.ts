/** Which records of the refresh log an instance has read, and which are late: holders of leases write when they are done. */

import { recordSlackMs } from './options.ts';

/** Late records that are asked for one by one; more at once would be a log full of holes. */
const maxMissing = 8;
/** A late record is asked for after this time, and then ever less often: each time is paid for. */
const minLateMs = 50;

/** When a record was missed first, and when it is asked for again. */
interface MissingRecord {
  readonly since: number;
  askAt: number;
}

export class LogPosition {
  readonly #upstreamTimeoutMs: number;
  readonly #lookBack: number;
  #upTo = 0;
  /** Records before it that were not there. */
  readonly #missing = new Map<number, MissingRecord>();
  /** Records that were read, as far back as any poll could still ask. */
  readonly #read = new Set<number>();

  /** @param lookBack how many records an instance looks back at most */
  constructor(upstreamTimeoutMs: number, lookBack: number) {
    this.#upstreamTimeoutMs = upstreamTimeoutMs;
    this.#lookBack = lookBack;
  }

  /** The last record that was read. */
  get upTo(): number {
    return this.#upTo;
  }

  get missing(): readonly number[] {
    return [...this.#missing.keys()];
  }

  hasRead(sequence: number): boolean {
    return this.#read.has(sequence);
  }

  /** Takes note of a record and of the gap before it, whose records are asked for `lateMs` from now on. */
  setRead(sequence: number, now: number, lateMs: number): void {
    this.#read.add(sequence);
    this.#missing.delete(sequence);
    for (let earlier = this.#upTo + 1; earlier < sequence; earlier++)
      if (!this.#read.has(earlier)) this.setMissing(earlier, now, lateMs);
    this.skipTo(sequence);
  }

  setMissing(sequence: number, now: number, lateMs: number): void {
    this.#missing.set(sequence, { since: now, askAt: now + lateMs });
  }

  /** Gives up what is missing: an instance that begins anew has it from a checkpoint. */
  clearMissing(): void {
    this.#missing.clear();
  }

  /** Leaves what is before, unless it has been read. */
  skipTo(sequence: number): void {
    this.#upTo = Math.max(this.#upTo, sequence);
  }

  /** The log began anew. */
  reset(): void {
    this.#upTo = 0;
    this.#missing.clear();
    this.#read.clear();
  }

  /** Forgets what no poll asks for any more, and gives up records that can no longer come. */
  prune(now: number): void {
    for (const sequence of this.#read)
      if (sequence < this.#upTo - 2 * this.#lookBack) this.#read.delete(sequence);
    for (const [sequence, { since }] of this.#missing)
      if (now - since > this.#upstreamTimeoutMs + recordSlackMs) this.#missing.delete(sequence);
  }

  /** The late records to ask for now. */
  takeDueMissing(now: number): readonly number[] {
    const due = [...this.#missing].filter(([, { askAt }]) => askAt <= now).slice(-maxMissing);
    for (const [, late] of due) late.askAt = now + Math.max(minLateMs, now - late.since);
    return due.map(([sequence]) => sequence);
  }
}
