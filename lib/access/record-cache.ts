/**
 * The directory's records in an instance's memory: read at most once in 30 s, and used for 60 s after their last good
 * read while the store cannot be asked.
 */

import { createAges, type Moment } from '../kernel/age.ts';
import { createByteBounded } from '../kernel/bounded-map.ts';
import type { Identity } from './identity.ts';
import { type AccessRecord, openRecord } from './records.ts';
import type { AccessEntry, AccessStore } from './store.ts';

export interface RecordCacheOptions {
  readonly store: Pick<AccessStore, 'read'>;
  readonly identity: Identity;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /** Of sealed records. */
  readonly maxBytes: number;
}

export interface RecordCache {
  /** What memory has, however old. */
  peek(key: string): AccessRecord | undefined;
  /** Rejects when one of them is not known and cannot be read. Expired records are left out. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, AccessRecord>>;
}

/** Half of what a revocation may take: a read that fails at its end leaves as much time for others. */
const freshMs = 30_000;
/** A revocation is seen after this time at most. */
const maxAgeMs = 60_000;
/** While the store is away, requests that can be answered from memory wait for it once in this time. */
const retryAfterMs = 1000;
/** Of a record besides its sealed bytes. */
const overheadBytes = 300;

interface KnownRecord {
  /** Undefined: the store has none. */
  readonly record: AccessRecord | undefined;
  readonly expiresAt: number;
  /** The moment just before the store was asked. */
  readonly readAt: Moment;
  readonly bytes: number;
  /** When a read failed last. */
  failedAt?: number;
}

export function createRecordCache({ store, identity, clock, maxBytes }: RecordCacheOptions): RecordCache {
  const memory = createByteBounded<KnownRecord>(maxBytes, ({ bytes }) => bytes);
  /** As the latest: the least recently used records leave memory first. */
  function recall(key: string): KnownRecord | undefined {
    const known = memory.take(key);
    if (known) memory.put(key, known);
    return known;
  }
  const ages = createAges(clock);
  const reading = new Map<string, Promise<KnownRecord>>();

  /** One that does not open costs only those an answer who asked for it. */
  async function opened(key: string, entry: AccessEntry | undefined, readAt: Moment): Promise<KnownRecord> {
    const record = entry && (await openRecord(identity, entry));
    const expiresAt = entry?.expiresAt ?? Number.POSITIVE_INFINITY;
    const known = { record, expiresAt, readAt, bytes: overheadBytes + (entry?.sealed.byteLength ?? 0) };
    memory.put(key, known);
    return known;
  }

  /** Single flight for each key; one read of the store for all that are due. */
  function start(keys: readonly string[]): void {
    if (keys.length === 0) return;
    const readAt = ages.now();
    const all = store.read(keys);
    for (const key of keys) {
      const one = all.then((entries) => opened(key, entries.get(key), readAt));
      reading.set(key, one);
      const end = () => void reading.delete(key);
      one.then(end, end);
    }
  }

  const ageOf = ({ readAt }: KnownRecord) => ages.since(readAt);
  const isUsable = (known: KnownRecord | undefined): known is KnownRecord =>
    !!known && ageOf(known) < maxAgeMs;
  const isDue = (known: KnownRecord | undefined) => {
    if (!isUsable(known)) return true;
    const { failedAt = Number.NEGATIVE_INFINITY } = known;
    return ageOf(known) >= freshMs && clock() - failedAt >= retryAfterMs;
  };

  async function readOne(key: string, before: KnownRecord | undefined): Promise<KnownRecord> {
    try {
      return await (reading.get(key) as Promise<KnownRecord>);
    } catch (error) {
      if (before) before.failedAt = clock();
      if (isUsable(before)) return before;
      throw error;
    }
  }

  return {
    peek: (key) => recall(key)?.record,
    async read(keys) {
      const before = new Map(keys.map((key) => [key, recall(key)]));
      const due = keys.filter((key) => isDue(before.get(key)));
      start(due.filter((key) => !reading.has(key)));
      const known = await Promise.all(
        keys.map(async (key) => {
          const one = before.get(key);
          return [key, due.includes(key) ? await readOne(key, one) : (one as KnownRecord)] as const;
        }),
      );
      const now = clock();
      return new Map(
        known.flatMap(([key, { record, expiresAt }]) => (record && expiresAt > now ? [[key, record]] : [])),
      );
    },
  };
}
