/**
 * Instances that share one budget, on a virtual clock: the production code, with clocks that are off, a
 * network that takes its time, and instances that freeze and die.
 */

import {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  type LimiterReport,
  type Priority,
} from '../../../lib/limiter/index.ts';
import type { Units } from './key-units.ts';
import { exponential, randomFrom } from './random.ts';
import { createSlowStore, type StoreFault, worldKey } from './slow-store.ts';
import { Upstream } from './upstream.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly instances: number;
  /** Clocks are off by up to this, either way. Default 500 ms. */
  readonly offsetMs?: number;
  readonly networkMs?: number;
  /** Clocks and network at their limits, never in between. */
  readonly extreme?: boolean;
  readonly limiter?: Partial<LimiterOptions>;
  /** Times a minute that an instance stands still for 0.05 … 5 s. */
  readonly freezesPerMinute?: number;
  /** Times a minute that an instance dies and another takes its place. */
  readonly killsPerMinute?: number;
  /** The part of the requests that stand still between the last check and the socket, for up to 5 s. */
  readonly lateFreezes?: number;
  /** What the store's key takes in a second. Default everything. */
  readonly unitCap?: Units;
  /** Some of the store's answers take long. */
  readonly tail?: boolean;
  /** Requests leave whether their permission is still valid or not. */
  readonly careless?: boolean;
}

export interface Request {
  readonly priority?: Priority;
  readonly limits?: readonly [string, ...string[]];
  readonly waitMs?: number;
}

/** A request that was sent. */
export interface Served {
  readonly priority: Priority;
  readonly askedAt: number;
  /** Milliseconds, with signing. */
  readonly waited: number;
}

/** So many requests a minute, by chance. */
export interface Demand extends Request {
  readonly perMinute: number;
}

export const marketData = { 'market-data': { requests: 300, perSeconds: 60 } };
const appKey = 'world-app-key';

export function createWorld(options: WorldOptions) {
  const { seed, networkMs = 500, offsetMs = 500, freezesPerMinute = 0, killsPerMinute = 0 } = options;
  const random = randomFrom(seed);
  const clock = new VirtualClock();
  const store = createSlowStore(clock, random, options);
  const upstream = new Upstream();
  const reports: LimiterReport[] = [];
  const served: Served[] = [];
  const counts = { asked: 0, sent: 0, refused: 0, expired: 0, killed: 0, frozen: 0, lateFreezes: 0 };
  const between = () => (options.extreme ? Math.round(random()) : random());
  const byLimit = new Map<string, number[]>();
  let keepReports = false;
  let started = 0;
  let instances = Array.from({ length: options.instances }, () => createInstance());

  function createInstance(fault?: StoreFault) {
    const offset = (between() * 2 - 1) * offsetMs;
    let frozenUntil = 0;
    let dead = false;
    const gate = (run: () => void): void => {
      if (dead) return;
      if (frozenUntil > clock.now) clock.after(frozenUntil - clock.now, () => gate(run));
      else run();
    };
    const after = (ms: number, run: () => void) => clock.after(ms, () => gate(run));
    const budget: Limiter = createLimiter({
      store: store.connect({ gate, instance: started++, always: fault }),
      limits: marketData,
      bucket: 'world',
      keyOf: () => worldKey,
      clock: () => Math.floor(clock.now + offset),
      after,
      random,
      report: (report) => {
        if (report.kind === 'expired') counts.expired++;
        if (keepReports) reports.push(report);
      },
      ...options.limiter,
    });
    return {
      budget,
      gate,
      after,
      freeze(ms: number) {
        counts.frozen++;
        frozenUntil = Math.max(frozenUntil, clock.now + ms);
      },
      kill() {
        counts.killed++;
        dead = true;
      },
    };
  }
  type Instance = ReturnType<typeof createInstance>;

  async function request(instance: Instance, { priority = 'interactive', limits, waitMs }: Request) {
    counts.asked++;
    const askedAt = clock.now;
    const answer = await instance.budget.acquire({
      appKey,
      limits: limits ?? ['market-data'],
      priority,
      ...(waitMs !== undefined && { waitMs }),
    });
    if (!answer.ok) {
      counts.refused++;
      return answer;
    }
    // Signing, which a freeze may hit.
    await new Promise<void>((resolve) => void instance.after(random() * 4, resolve));
    if (answer.permit.consume() || options.careless) send(priority, askedAt, limits ?? ['market-data']);
    return answer;
  }

  function send(priority: Priority, askedAt: number, limits: readonly string[]): void {
    counts.sent++;
    served.push({ priority, askedAt, waited: clock.now - askedAt });
    const late = random() < (options.lateFreezes ?? 0) ? random() * 5000 : 0;
    if (late > 0) counts.lateFreezes++;
    const arrival = clock.now + late + between() * networkMs;
    upstream.arrive(arrival);
    for (const name of limits) {
      const times = byLimit.get(name) ?? [];
      times.push(arrival);
      byLimit.set(name, times);
    }
  }

  const anyIndex = () => Math.floor(random() * instances.length);

  /** Something happens so often a minute, by chance, until a time. */
  function often(perMinute: number, until: number, run: () => void): void {
    if (perMinute <= 0) return;
    const next = () =>
      clock.after(exponential(random, 60_000 / perMinute), () => {
        if (clock.now >= until) return;
        run();
        next();
      });
    next();
  }

  return {
    clock,
    store,
    operations: store.operations,
    upstream,
    served,
    counts,
    reports,
    random,
    get instances() {
      return instances;
    },
    keepReports: () => {
      keepReports = true;
    },
    request: (what: Request = {}, index = anyIndex()) => request(instances[index]!, what),
    /** When requests arrived that count against a limit. */
    sentUnder: (limit: string): readonly number[] => byLimit.get(limit) ?? [],
    requestOf: request,
    /** An instance beside the others, whose every store operation goes wrong. */
    lone: (fault: StoreFault) => createInstance(fault),
    /** All die at once, and others take their places. */
    replaceAll: () => {
      for (const instance of instances) instance.kill();
      instances = instances.map(() => createInstance());
    },
    /** One more instance, beside the others. */
    start: () => createInstance(),
    add: (count: number) => {
      instances = [...instances, ...Array.from({ length: count }, () => createInstance())];
    },
    /** So many requests a minute, by chance, of any instance, and whatever the options say of accidents. */
    async live(forMs: number, demands: readonly Demand[]): Promise<void> {
      const until = clock.now + forMs;
      for (const { perMinute, ...what } of demands)
        often(perMinute, until, () => void request(instances[anyIndex()]!, what));
      often(freezesPerMinute, until, () => instances[anyIndex()]!.freeze(50 + random() ** 3 * 4950));
      often(killsPerMinute, until, () => {
        const index = anyIndex();
        instances[index]!.kill();
        instances[index] = createInstance();
      });
      await clock.runUntil(until);
    },
  };
}

export type World = ReturnType<typeof createWorld>;

/** Store operations since an earlier count, for each permission that was sent. */
export const perPermit = (count: number, sent: number) => (count / Math.max(1, sent)).toFixed(2);
