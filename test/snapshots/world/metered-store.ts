/** The memory store with a network before it, its units counted and bounded as DynamoDB does. */

import { packCheckpoint, packFlights, packRecord } from '../../../functions/aws/snapshot-items.ts';
import {
  createMemorySnapshotStore,
  type LeaseAnswer,
  missMs,
  type RefreshControl,
  type RefreshLogUpdate,
  type RefreshRecord,
  type SnapshotCheckpoint,
  type SnapshotStore,
} from '../../../lib/cache/snapshots/store.ts';
import { throughEach } from '../../world/ports.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';
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

/** As the deployed store has them. */
const shards = 8;
const maxMissItems = 40;

const writeUnits = (bytes: number) => ({ write: Math.ceil(bytes / 1024) });
/** Half a unit for 4 kB, read without waiting for all replicas. */
const readUnits = (bytes: number) => ({ read: Math.max(1, Math.ceil(bytes / 4096)) / 2 });

/** Names of the attributes, keys, time to live, and what DynamoDB adds to each item. */
const itemBytes = 60;
const flightBytes = new WeakMap<RefreshControl['flights'], number>();
/** Each poll reads the item, and few write it. */
function controlBytes({ flights }: RefreshControl): number {
  const bytes = flightBytes.get(flights) ?? packFlights(flights).length;
  flightBytes.set(flights, bytes);
  return 260 + bytes;
}
const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

/** The store of all instances: what they share, and what it costs. */
export class MeteredStore {
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #charged: ChargedStore;
  #awayPart = 0;

  constructor(
    time: VirtualTime,
    random: () => number,
    units: UnitMeter,
    onRecord: (record: RefreshRecord) => void = () => {},
  ) {
    this.#time = time;
    this.#random = random;
    this.#charged = new ChargedStore(time, random, units, onRecord);
  }

  get meter(): Meter {
    return this.#charged.meter;
  }

  /** @param part of the instances that lose it; default all */
  setAway(away: boolean, part = 1): void {
    this.#awayPart = away ? part : 0;
  }

  /** The store of one instance, behind a network. */
  connect(): SnapshotStore {
    const chance = this.#random();
    const trip = async <T>(work: () => Promise<T>): Promise<T> => {
      const total = storeLatency(this.#random);
      await this.#time.sleep(total / 2);
      if (chance < this.#awayPart) throw new Error('the store is away');
      const answer = await work();
      await this.#time.sleep(total / 2);
      return answer;
    };
    return throughEach<SnapshotStore>(this.#charged, (_, call) => trip(call));
  }
}

/** The partition of the control item and the log. */
const main = 'main';

/** Charges each operation as DynamoDB does, to the partition that it touches. */
class ChargedStore implements SnapshotStore {
  readonly meter: Meter = {
    reads: 0,
    writes: 0,
    refused: 0,
    recordBytes: 0,
    records: 0,
    starts: 0,
    misses: 0,
    checkpoints: 0,
  };
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #units: UnitMeter;
  readonly #onRecord: (record: RefreshRecord) => void;
  readonly #store: SnapshotStore;
  readonly #sizes = new Map<number, number>();
  readonly #checkpointSizes = new WeakMap<SnapshotCheckpoint, readonly number[]>();
  /** The misses of the last seconds, by shard. */
  readonly #misses: { at: number; bytes: number; keys: readonly string[] }[][] = Array.from(
    { length: shards },
    () => [],
  );
  readonly #starts = Array.from({ length: shards }, () => ({ second: 0, count: 0 }));

  constructor(
    time: VirtualTime,
    random: () => number,
    units: UnitMeter,
    onRecord: (record: RefreshRecord) => void,
  ) {
    this.#time = time;
    this.#random = random;
    this.#units = units;
    this.#onRecord = onRecord;
    this.#store = createMemorySnapshotStore(time.now);
  }

  async read(after: number | undefined, missing: readonly number[]): Promise<RefreshLogUpdate> {
    const update = await this.#store.read(after, missing);
    const late = update.records.filter(({ sequence }) => missing.includes(sequence));
    const inRange = update.records.filter(({ sequence }) => !missing.includes(sequence));
    const bytes = sum(inRange.map(({ sequence }) => this.#sizes.get(sequence)!));
    this.#chargeRead(main, bytes + controlBytes(update.control));
    for (const sequence of missing) {
      const found = late.find((record) => record.sequence === sequence);
      this.#chargeRead(main, found ? this.#sizes.get(sequence)! : 1);
    }
    return update;
  }

  async acquire(next: RefreshControl, after: number): Promise<LeaseAnswer> {
    const { control } = await this.#store.read(undefined, []);
    // A refused write costs as much as one that is not.
    this.#chargeWrite(main, Math.max(controlBytes(control), controlBytes(next)));
    const answer = await this.#store.acquire(next, after);
    if (!answer.acquired) this.meter.refused++;
    return answer;
  }

  async write(record: RefreshRecord): Promise<void> {
    const bytes = packRecord(record).length + itemBytes;
    this.#chargeWrite(main, bytes);
    this.#onRecord(record);
    this.#sizes.set(record.sequence, bytes);
    this.meter.recordBytes += bytes;
    this.meter.records++;
    await this.#store.write(record);
  }

  async countStart(): Promise<number> {
    const shard = this.#anyShard();
    this.#chargeWrite(`starts ${shard}`, itemBytes);
    this.meter.starts++;
    const second = Math.floor(this.#time.now() / 1000);
    const one = this.#starts[shard]!;
    one.count = one.second === second ? one.count + 1 : 1;
    one.second = second;
    return 1 + (one.count - 1) * shards;
  }

  async readCheckpoint(copy: number): Promise<SnapshotCheckpoint | undefined> {
    const checkpoint = await this.#store.readCheckpoint(copy);
    this.#chargeRead(`checkpoint ${copy}`, checkpoint ? sum(this.#sizesOf(checkpoint)) : 1);
    return checkpoint;
  }

  async writeCheckpoint(copy: number, checkpoint: SnapshotCheckpoint): Promise<void> {
    this.meter.checkpoints++;
    for (const bytes of this.#sizesOf(checkpoint)) this.#chargeWrite(`checkpoint ${copy}`, bytes);
    await this.#store.writeCheckpoint(copy, checkpoint);
  }

  async writeMisses(keys: readonly string[]): Promise<void> {
    const shard = this.#anyShard();
    const bytes = itemBytes + sum(keys.map(({ length }) => length + 1));
    this.#chargeWrite(`misses ${shard}`, bytes);
    this.meter.misses++;
    this.#misses[shard]!.push({ at: this.#time.now(), bytes, keys });
  }

  async readMisses(): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const [shard, all] of this.#misses.entries()) {
      while (all[0] && all[0].at < this.#time.now() - missMs) all.shift();
      const latest = all.slice(-maxMissItems);
      this.#chargeRead(`misses ${shard}`, sum(latest.map(({ bytes }) => bytes)));
      for (const { keys } of latest) for (const key of keys) found.add(key);
    }
    return [...found];
  }

  #anyShard(): number {
    return Math.floor(this.#random() * shards);
  }

  #chargeRead(key: string, bytes: number): void {
    this.meter.reads++;
    this.#units.charge(key, readUnits(bytes));
  }

  #chargeWrite(key: string, bytes: number): void {
    this.meter.writes++;
    this.#units.charge(key, writeUnits(bytes));
  }

  #sizesOf(checkpoint: SnapshotCheckpoint): readonly number[] {
    const sizes =
      this.#checkpointSizes.get(checkpoint) ??
      packCheckpoint(checkpoint, 380 * 1024).map(({ length }) => length + itemBytes);
    this.#checkpointSizes.set(checkpoint, sizes);
    return sizes;
  }
}
