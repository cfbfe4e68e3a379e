/** The memory store with a network before it, its units counted and bounded as DynamoDB does. */

import { packCheckpoint, packFlights, packRecord } from '../../../functions/aws/snapshot-items.ts';
import { createMemorySnapshotStore } from '../../../lib/cache/snapshots/memory-store.ts';
import {
  type Checkpoint,
  type Control,
  missMs,
  type RefreshRecord,
  type SnapshotStore,
} from '../../../lib/cache/snapshots/store.ts';
import type { VirtualTime } from '../../support/virtual-time.ts';
import { storeLatency, type UnitMeter } from './platform.ts';

export interface Meter {
  reads: number;
  writes: number;
  refused: number;
  recordBytes: number;
  records: number;
  /** Instances that began, or began again after a pause. */
  starts: number;
  misses: number;
  checkpoints: number;
}

export interface MeteredStore {
  /** What one instance has of it. */
  connect(): SnapshotStore;
  readonly meter: Meter;
  /** @param part of the instances that lose it; default all */
  setAway(away: boolean, part?: number): void;
}

/** As the deployed store has them. */
const shards = 8;
const maxMissItems = 40;

const writeUnits = (bytes: number) => ({ write: Math.ceil(bytes / 1024) });
/** Half a unit for 4 kB, read without waiting for all replicas. */
const readUnits = (bytes: number) => ({ read: Math.max(1, Math.ceil(bytes / 4096)) / 2 });

/** Names of the attributes, keys, time to live, and what DynamoDB adds to each item. */
const itemBytes = 60;
const controlBytes = ({ flights }: Control) => 260 + packFlights(flights).length;
const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

export function createMeteredStore(
  time: VirtualTime,
  random: () => number,
  units: UnitMeter,
  onRecord: (record: RefreshRecord) => void = () => {},
): MeteredStore {
  const store = createMemorySnapshotStore(time.now);
  const meter: Meter = {
    reads: 0,
    writes: 0,
    refused: 0,
    recordBytes: 0,
    records: 0,
    starts: 0,
    misses: 0,
    checkpoints: 0,
  };
  const sizeOf = new Map<number, number>();
  const checkpointSizes = new WeakMap<Checkpoint, readonly number[]>();
  /** What was published in the last seconds, by shard. */
  const published: { at: number; bytes: number; keys: readonly string[] }[][] = Array.from(
    { length: shards },
    () => [],
  );
  const starts = Array.from({ length: shards }, () => ({ second: 0, count: 0 }));
  let awayPart = 0;

  const main = 'main';
  const anyShard = () => Math.floor(random() * shards);
  const read = (key: string, bytes: number) => {
    meter.reads++;
    units.charge(key, readUnits(bytes));
  };
  const write = (key: string, bytes: number) => {
    meter.writes++;
    units.charge(key, writeUnits(bytes));
  };
  function sizesOf(checkpoint: Checkpoint): readonly number[] {
    const known =
      checkpointSizes.get(checkpoint) ??
      packCheckpoint(checkpoint, 380 * 1024).map(({ length }) => length + itemBytes);
    checkpointSizes.set(checkpoint, known);
    return known;
  }

  function connect(): SnapshotStore {
    const chance = random();
    async function trip<T>(work: () => Promise<T>): Promise<T> {
      const total = storeLatency(random);
      await time.sleep(total / 2);
      if (chance < awayPart) throw new Error('the store is away');
      const answer = await work();
      await time.sleep(total / 2);
      return answer;
    }
    return {
      read: (after, missing) =>
        trip(async () => {
          const news = await store.read(after, missing);
          const late = news.records.filter(({ sequence }) => missing.includes(sequence));
          const inRange = news.records.filter(({ sequence }) => !missing.includes(sequence));
          read(main, sum(inRange.map(({ sequence }) => sizeOf.get(sequence)!)) + controlBytes(news.control));
          for (const sequence of missing) {
            const found = late.find((record) => record.sequence === sequence);
            read(main, found ? sizeOf.get(sequence)! : 1);
          }
          return news;
        }),
      acquire: (next, after) =>
        trip(async () => {
          const { control } = await store.read(undefined, []);
          // A refused write costs as much as one that is not.
          write(main, Math.max(controlBytes(control), controlBytes(next)));
          const answer = await store.acquire(next, after);
          if (!answer.acquired) meter.refused++;
          return answer;
        }),
      write: (record) =>
        trip(async () => {
          const bytes = packRecord(record).length + itemBytes;
          write(main, bytes);
          onRecord(record);
          sizeOf.set(record.sequence, bytes);
          meter.recordBytes += bytes;
          meter.records++;
          await store.write(record);
        }),
      countStart: () =>
        trip(async () => {
          const shard = anyShard();
          write(`starts ${shard}`, itemBytes);
          meter.starts++;
          const second = Math.floor(time.now() / 1000);
          const one = starts[shard]!;
          one.count = one.second === second ? one.count + 1 : 1;
          one.second = second;
          return 1 + (one.count - 1) * shards;
        }),
      readCheckpoint: (copy) =>
        trip(async () => {
          const checkpoint = await store.readCheckpoint(copy);
          read(`checkpoint ${copy}`, checkpoint ? sum(sizesOf(checkpoint)) : 1);
          return checkpoint;
        }),
      writeCheckpoint: (copy, checkpoint) =>
        trip(async () => {
          meter.checkpoints++;
          for (const bytes of sizesOf(checkpoint)) write(`checkpoint ${copy}`, bytes);
          await store.writeCheckpoint(copy, checkpoint);
        }),
      writeMisses: (keys) =>
        trip(async () => {
          const shard = anyShard();
          const bytes = itemBytes + sum(keys.map(({ length }) => length + 1));
          write(`misses ${shard}`, bytes);
          meter.misses++;
          published[shard]!.push({ at: time.now(), bytes, keys });
        }),
      readMisses: () =>
        trip(async () => {
          const found = new Set<string>();
          for (const [shard, all] of published.entries()) {
            while (all[0] && all[0].at < time.now() - missMs) all.shift();
            const latest = all.slice(-maxMissItems);
            read(`misses ${shard}`, sum(latest.map(({ bytes }) => bytes)));
            for (const { keys } of latest) for (const key of keys) found.add(key);
          }
          return [...found];
        }),
    };
  }

  return {
    meter,
    connect,
    setAway(away, part = 1) {
      awayPart = away ? part : 0;
    },
  };
}
