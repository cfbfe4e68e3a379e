/**
 * The bounds of the platform that the gateway is deployed on. DynamoDB gives one partition key so many units a
 * second, whatever the table has, and a young on-demand table so many in all. Lambda takes a while to start an
 * instance and has a bound on their number. A model, and a strict one: no burst capacity, no retries by the client
 * library (the stores make one attempt), and a refused operation is free.
 *
 * Sources: the DynamoDB developer guide (partition throughput, initial throughput of on-demand tables) and the
 * Lambda developer guide (concurrency quota, scaling rate, requests a second).
 */

import { StoreThrottled } from '../../../lib/limiter/store-throttled.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';

export interface Platform {
  /** From the request that has no idle instance to the moment when a new one takes it, in milliseconds. */
  readonly startMs: number;
  /** Instances at the same time. */
  readonly maxInstances: number;
  /** Instances that a function may start in ten seconds. */
  readonly startsPer10s: number;
  /** Requests a second that an account gets for each instance that it may have. */
  readonly requestsPerInstance: number;
  /** After so long without a request the platform takes an instance back. */
  readonly idleMs: number;
  /** Units a second of one partition key. */
  readonly keyUnits: Units;
  /** Units a second of a table. */
  readonly tableUnits: Units;
}

export interface Units {
  readonly read: number;
  readonly write: number;
}

/** Lambda's and DynamoDB's defaults for an account that has been used for a while. */
export const platform: Platform = {
  startMs: 400,
  maxInstances: 1000,
  startsPer10s: 1000,
  requestsPerInstance: 10,
  idleMs: 300_000,
  keyUnits: { read: 3000, write: 1000 },
  tableUnits: { read: 12_000, write: 4000 },
};

/** What an account has on its first day. */
export const newAccount: Platform = { ...platform, maxInstances: 10 };

/** What no platform gives: for what is about something else. */
export const unbounded: Platform = {
  startMs: 0,
  maxInstances: Number.POSITIVE_INFINITY,
  startsPer10s: Number.POSITIVE_INFINITY,
  requestsPerInstance: Number.POSITIVE_INFINITY,
  idleMs: 300_000,
  keyUnits: { read: Number.POSITIVE_INFINITY, write: Number.POSITIVE_INFINITY },
  tableUnits: { read: Number.POSITIVE_INFINITY, write: Number.POSITIVE_INFINITY },
};

export interface UnitMeter {
  /** @throws StoreThrottled when the key or the table has no more of them in this second */
  charge(key: string, units: Partial<Units>): void;
  readonly total: Units;
  /** The most that one key gave in one second, and the table. */
  readonly peakOfKey: Units;
  readonly peakOfTable: Units;
  readonly throttled: number;
  /** From now on this part of the operations is refused whatever they cost: 0 … 1. */
  setThrottled(part: number): void;
}

export function createUnitMeter(
  time: VirtualTime,
  random: () => number,
  { keyUnits, tableUnits }: Pick<Platform, 'keyUnits' | 'tableUnits'>,
): UnitMeter {
  let second = 0;
  let ofKey = new Map<string, Units>();
  let ofTable: Units = { read: 0, write: 0 };
  let part = 0;
  const meter = {
    total: { read: 0, write: 0 },
    peakOfKey: { read: 0, write: 0 },
    peakOfTable: { read: 0, write: 0 },
    throttled: 0,
  };
  const fits = (units: Units, most: Units) => units.read <= most.read && units.write <= most.write;
  const most = (a: Units, b: Units) => ({
    read: Math.max(a.read, b.read),
    write: Math.max(a.write, b.write),
  });

  return {
    get total() {
      return meter.total;
    },
    get peakOfKey() {
      return meter.peakOfKey;
    },
    get peakOfTable() {
      return meter.peakOfTable;
    },
    get throttled() {
      return meter.throttled;
    },
    setThrottled(now) {
      part = now;
    },
    charge(key, { read = 0, write = 0 }) {
      const now = Math.floor(time.now() / 1000);
      if (now !== second) {
        second = now;
        ofKey = new Map();
        ofTable = { read: 0, write: 0 };
      }
      const sum = (units: Units = { read: 0, write: 0 }) => ({
        read: units.read + read,
        write: units.write + write,
      });
      const keySum = sum(ofKey.get(key));
      const tableSum = sum(ofTable);
      if ((part > 0 && random() < part) || !fits(keySum, keyUnits) || !fits(tableSum, tableUnits)) {
        meter.throttled++;
        throw new StoreThrottled();
      }
      ofKey.set(key, keySum);
      ofTable = tableSum;
      meter.total = sum(meter.total);
      meter.peakOfKey = most(meter.peakOfKey, keySum);
      meter.peakOfTable = most(meter.peakOfTable, tableSum);
    },
  };
}

/** One operation of DynamoDB: 5 to 8 ms, one in a hundred up to 80 and one in a thousand up to 250. */
export function storeLatency(random: () => number): number {
  const chance = random();
  const plain = 5 + 3 * random();
  if (chance < 0.001) return plain + 250 * random();
  if (chance < 0.01) return plain + 80 * random();
  return plain;
}
