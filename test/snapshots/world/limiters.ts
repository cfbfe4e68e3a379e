/** The production limiter on the virtual clock: one for each instance, on a store that all of them share. */

import type { AskUpstream, RefreshPermits } from '../../../lib/cache/snapshots/ports.ts';
import { getStockSnapshots } from '../../../lib/catalogue/index.ts';
import type { UpstreamLimits } from '../../../lib/catalogue/limits.ts';
import { limiterLimits, limitsOf } from '../../../lib/gateway/limits/operation-limits.ts';
import {
  createLimiter,
  createMemoryLimiterStore,
  type Limit,
  type Limiter,
  type LimiterItem,
  type LimiterStore,
  type WriteAnswer,
} from '../../../lib/limiter/index.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';
import { storeLatency, type UnitMeter } from './platform.ts';

export interface LimiterMeter {
  reads: number;
  writes: number;
  refused: number;
  /** Permits that were granted, refused, and granted but used too late. */
  given: number;
  turnedAway: number;
  expired: number;
}

export interface Limiters {
  /** Another instance's limiter. */
  connect(): Limiter;
  /** What a request for snapshots counts against. */
  readonly names: readonly [string, ...string[]];
  /** Their figures, by name. */
  readonly limits: Readonly<Record<string, Limit>>;
  readonly meter: LimiterMeter;
  /** @param part of the instances that lose it; default all */
  setAway(away: boolean, part?: number): void;
}

const appKey = 'study';
export function createLimiters(
  time: VirtualTime,
  random: () => number,
  units: UnitMeter,
  upstreamLimits: UpstreamLimits = 'interface',
): Limiters {
  const operations = [getStockSnapshots];
  const names = limitsOf(getStockSnapshots, { operationLimits: {}, upstreamLimits })!;
  const all = limiterLimits({}, 1, { upstreamLimits, operations });
  const limits = Object.fromEntries(names.map((name) => [name, all[name]!]));
  const store = createMemoryLimiterStore();
  const meter: LimiterMeter = {
    reads: 0,
    writes: 0,
    refused: 0,
    given: 0,
    turnedAway: 0,
    expired: 0,
  };
  let awayPart = 0;

  /** What one instance has of it. */
  function storeOf(): LimiterStore {
    const chance = random();
    async function trip<T>(work: () => Promise<T>): Promise<T> {
      const total = storeLatency(random);
      await time.sleep(total / 2);
      if (chance < awayPart) throw new Error('the limiter store is away');
      const answer = await work();
      await time.sleep(total / 2);
      return answer;
    }
    const write = (key: string, work: () => Promise<WriteAnswer>) =>
      trip(async () => {
        meter.writes++;
        // A refused write costs as much as one that is not.
        units.charge(key, { write: Math.ceil(bytesOf(await store.read(key)) / 1024) });
        const answer = await work();
        if (!answer.written) meter.refused++;
        return answer;
      });
    return {
      read: (key) =>
        trip(async () => {
          const item = await store.read(key);
          meter.reads++;
          // A whole unit for 4 kB, because all replicas are waited for.
          units.charge(key, { read: Math.ceil(bytesOf(item) / 4096) });
          return item;
        }),
      add: (key, ...args) => write(key, () => store.add(key, ...args)),
      replace: (key, ...args) => write(key, () => store.replace(key, ...args)),
    };
  }

  return {
    meter,
    names,
    limits,
    setAway(away, part = 1) {
      awayPart = away ? part : 0;
    },
    connect: () =>
      createLimiter({
        store: storeOf(),
        limits,
        bucket: 'study',
        keyOf: () => 'study',
        clock: () => Math.floor(time.now()),
        after: time.after,
        random,
        report: ({ kind }) => {
          if (kind === 'granted') meter.given++;
          if (kind === 'refused') meter.turnedAway++;
          if (kind === 'expired') meter.expired++;
        },
      }),
  };
}

export const permitsOf = (limiter: Limiter, limits: Limiters['names']): RefreshPermits => ({
  acquire: async ({ priority, waitMs }) => {
    const answer = await limiter.acquire({ appKey, limits, priority, waitMs });
    return answer.ok ? { ok: true, permit: answer.permit } : answer;
  },
});

/** How often a permit that has expired is replaced. */
const maxReplacements = 2;
const signingMs = 4;

/** Signs, and sends with the permit at the moment when the request leaves, replaced when it has expired. */
export const sendWithPermit =
  (
    upstream: AskUpstream,
    { limiter, limits }: { readonly limiter: Limiter; readonly limits: Limiters['names'] },
    time: VirtualTime,
    random: () => number,
  ): AskUpstream =>
  async (view, symbols, permit, timeoutMs) => {
    const started = time.now();
    await time.sleep(random() * signingMs);
    let good = permit;
    for (let replaced = 0; !good.consume(); replaced++) {
      const waitMs = Math.max(0, timeoutMs - (time.now() - started));
      const next = await limiter.acquire({ appKey, limits, waitMs });
      if (!next.ok || replaced === maxReplacements) return { kind: 'failed' };
      good = next.permit;
    }
    return upstream(view, symbols, good, Math.max(1, timeoutMs - (time.now() - started)));
  };

/** Names of the attributes, keys, time to live, and what DynamoDB adds to each item. */
const itemBytes = 250;
const bytesOf = (item: LimiterItem | undefined) =>
  item
    ? itemBytes +
      item.text.length +
      Object.keys(item.counters).reduce((sum, name) => sum + name.length + 6, 0)
    : 1;
