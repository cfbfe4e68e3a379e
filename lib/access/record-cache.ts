/**
 * Cache of the directory's records in one instance. A record is read at most once in 30 s, and while the store is
 * unreachable it is used for 60 s after its last good read.
 */

import { createAges, type Moment } from '../kernel/age.ts';
import { createByteBounded } from '../kernel/bounded-map.ts';
import type { Identity } from './identity.ts';
import { type AccessRecord, openRecord } from './records.ts';
import type { AccessEntry, AccessStore } from './store.ts';

interface RecordCacheOptions {
  readonly store: Pick<AccessStore, 'read'>;
  readonly identity: Identity;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /** Size limit of the sealed records in memory. */
  readonly maxBytes: number;
}

interface RecordCache {
  /** The record in memory, however old. */
  peek(key: string): AccessRecord | undefined;
  /** Rejects when one of the records is not in memory and cannot be read. Expired records are left out. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, AccessRecord>>;
}

/** Half of `maxAgeMs`: if the read that is then due fails, the other half is left for further attempts. */
const freshMs = 30_000;
/** A revocation takes effect after this time at most. */
const maxAgeMs = 60_000;
/** While the store is unreachable, requests with a usable record in memory try it once in this time. */
const retryAfterMs = 1000;
/** Memory of a record besides its sealed bytes. */
const overheadBytes = 300;

interface KnownRecord {
  /** Undefined when the store has none. */
  readonly record: AccessRecord | undefined;
  readonly expiresAt: number;
  /** The moment just before the store was asked. */
  readonly readAt: Moment;
  readonly bytes: number;
  /** Time of the last failed read. */
  failedAt?: number;
}

export function createRecordCache({ store, identity, clock, maxBytes }: RecordCacheOptions): RecordCache {
  const memory = createByteBounded<KnownRecord>(maxBytes, ({ bytes }) => bytes);
  /** Puts a record it finds back as the latest: the least recently used records leave memory first. */
  function recall(key: string): KnownRecord | undefined {
    const known = memory.take(key);
    if (known) memory.put(key, known);
    return known;
  }
  const ages = createAges(clock);
  const reading = new Map<string, Promise<KnownRecord>>();

  /** Opens a record by itself: one that does not open fails only the requests that need it. */
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
