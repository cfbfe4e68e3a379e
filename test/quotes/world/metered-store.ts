/** The memory store with a network before it, its bytes counted as DynamoDB bills them. */

import { createMemoryQuoteStore } from '../../../lib/gateway/quotes/memory-store.ts';
import type { Control, Entry, QuoteStore } from '../../../lib/gateway/quotes/store.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Meter {
  reads: number;
  writes: number;
  readUnits: number;
  writeUnits: number;
  refused: number;
  entryBytes: number;
  entries: number;
}

export interface MeteredStore {
  readonly shared: QuoteStore;
  readonly meter: Meter;
  setAway(away: boolean): void;
  /** 5 to 8 milliseconds. */
  readonly latency: () => number;
}

export function createMeteredStore(
  time: VirtualTime,
  random: () => number,
  sizes: { entry(entry: Entry): number; control(control: Control): number },
): MeteredStore {
  const store = createMemoryQuoteStore();
  const meter: Meter = {
    reads: 0,
    writes: 0,
    readUnits: 0,
    writeUnits: 0,
    refused: 0,
    entryBytes: 0,
    entries: 0,
  };
  const sizeOf = new Map<number, number>();
  let away = false;
  const latency = () => 5 + 3 * random();

  async function trip<T>(work: () => Promise<T>): Promise<T> {
    const total = latency();
    await time.sleep(total / 2);
    if (away) throw new Error('the store is away');
    const answer = await work();
    await time.sleep(total / 2);
    return answer;
  }
  const write = (bytes: number) => {
    meter.writes++;
    meter.writeUnits += Math.ceil(bytes / 1024);
  };

  return {
    meter,
    latency,
    setAway(isAway) {
      away = isAway;
    },
    shared: {
      read: (after, missing) =>
        trip(async () => {
          const news = await store.read(after, missing);
          const late = news.entries.filter(({ turn }) => missing.includes(turn));
          const inRange = news.entries.filter(({ turn }) => !missing.includes(turn));
          const bytes = inRange.reduce((total, { turn }) => total + sizeOf.get(turn)!, 0);
          meter.reads++;
          // Half a unit for 4 kB, read without waiting for all replicas; each late one is read by itself.
          meter.readUnits += Math.ceil((bytes + sizes.control(news.control)) / 4096) / 2;
          for (const turn of missing) {
            const found = late.find((entry) => entry.turn === turn);
            meter.readUnits += Math.ceil((found ? sizeOf.get(turn)! : 1) / 4096) / 2;
          }
          return news;
        }),
      take: (turn) =>
        trip(async () => {
          const answer = await store.take(turn);
          if (!answer.taken) meter.refused++;
          write(sizes.control(answer.taken ? { ...turn, wants: turn.takesWants } : answer.control));
          return answer;
        }),
      want: (keys) =>
        trip(async () => {
          const control = await store.want(keys);
          write(sizes.control(control));
          return control;
        }),
      write: (entry) =>
        trip(async () => {
          const bytes = sizes.entry(entry);
          sizeOf.set(entry.turn, bytes);
          meter.entryBytes += bytes;
          meter.entries++;
          write(bytes);
          await store.write(entry);
        }),
    },
  };
}
