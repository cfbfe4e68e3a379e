/** One run of the production code under load on a virtual clock, and what was measured. */

import { createUsagePlan } from '../../../infra/local/usage-plan.ts';
import type { SnapshotCacheOptions } from '../../../lib/cache/snapshots/instance.ts';
import type { SnapshotOptions } from '../../../lib/cache/snapshots/ports.ts';
import type { SnapshotOutcome } from '../../../lib/cache/snapshots/request.ts';
import { createSnapshotCache } from '../../../lib/cache/snapshots/snapshot-cache.ts';
import type { RefreshRecord } from '../../../lib/cache/snapshots/store.ts';
import { getStockSnapshots } from '../../../lib/catalogue/index.ts';
import type { UpstreamLimits } from '../../../lib/catalogue/limits.ts';
import { snapshotPaceOf } from '../../../lib/gateway/limits/operation-limits.ts';
import { createRandom } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import { createVirtualDirectoryStore, createVirtualListings, market } from './directory.ts';
import { Fleet } from './fleet.ts';
import { createLimiters, type LimiterMeter, permitsOf, sendWithPermit } from './limiters.ts';
import { type Client, exists } from './load.ts';
import { type Meter, MeteredStore } from './metered-store.ts';
import { platform as aws, createUnitMeter, type Platform, type UnitMeter } from './platform.ts';
import { createVirtualUpstream, madeAt, type VirtualUpstreamOptions } from './upstream.ts';

/** From and to, in seconds, and how. */
type Span = readonly [number, number, ...unknown[]];

export interface StudyOptions {
  readonly clients: readonly Client[];
  readonly seconds: number;
  readonly everyMs?: number;
  readonly seed?: number;
  readonly figures?: Partial<SnapshotOptions>;
  /** Default `interface`. */
  readonly upstreamLimits?: UpstreamLimits;
  readonly unknown?: VirtualUpstreamOptions['unknown'];
  /** What the directory of symbols is at the beginning; `none`: there will be none. Default ready. */
  readonly directory?: 'ready' | 'empty' | 'none';
  /** Ages and waits count from this second on. Default 0: from the cold start. */
  readonly countFrom?: number;
  /** Whose ages count; default all clients'. */
  readonly counts?: (client: Client) => boolean;
  readonly platform?: Platform;
  /** What the usage plan lets each key do. Default that of an app of 10,000 phones. */
  readonly plan?: { readonly ratePerSecond: number; readonly burst: number };
  /** The second in which a client begins; default any of the first `everyMs`. */
  readonly beginsAt?: (index: number, chance: number) => number;
  /** Each from and to, in seconds, and how it fails. */
  readonly upstreamDown?: readonly (readonly [number, number, VirtualUpstreamOptions['downBy']])[];
  readonly storeAway?: readonly Span[];
  readonly limiterAway?: readonly Span[];
  /** The part of the instances that lose a store that is away. Default all. */
  readonly awayPart?: number;
  /** From, to, and the part of the operations of both stores that are throttled. */
  readonly throttled?: readonly [number, number, number];
  /** Called for each record of the refresh log when it is written. */
  readonly onRecord?: (record: RefreshRecord, now: number) => void;
  /** Called for each answer. */
  readonly onAnswer?: (client: Client, outcome: SnapshotOutcome, arrived: number, answered: number) => void;
  /** Further requests: called once with what asks. */
  readonly also?: (world: World) => void;
}

export interface World {
  readonly time: VirtualTime;
  readonly random: () => number;
  readonly start: number;
  /** Undefined when the caller's plan refuses. */
  ask(client: Client): Promise<SnapshotOutcome | undefined>;
}

export interface Measured {
  readonly requests: number;
  readonly answered: number;
  /** Of each entry of each answer when it was answered, in milliseconds. */
  readonly ages: Ages;
  /** Of the oldest entry of each answer. */
  readonly oldest: Ages;
  /** How long the clients waited, in milliseconds. */
  readonly waits: Ages;
  readonly upstreamRequests: number;
  /** The most that arrived at the upstream in any 60 s. */
  readonly worstMinute: number;
  /** Each limit that the requests counted against. */
  readonly counters: readonly Counter[];
  readonly results: Readonly<Record<string, number>>;
  readonly perUpstreamRequest: number;
  readonly meter: Meter;
  /** Of the table of snapshots, and of the limiter's. */
  readonly units: UnitMeter;
  readonly limiterUnits: UnitMeter;
  readonly instances: number;
  /** The most at the same time, starting ones too. */
  readonly peakInstances: number;
  /** Requests that the platform refused. */
  readonly platformRefused: number;
  /** Clients that had a full answer within five seconds of their first request, and those that began in time for it. */
  readonly inFiveSeconds: readonly [served: number, clients: number];
  /** Answered, of the requests that arrived in each second. */
  readonly bySecond: readonly (readonly [answered: number, requests: number])[];
  readonly unavailable: number;
  readonly limiter: LimiterMeter;
  /** Refused by the plan in front. */
  readonly overPlan: number;
  /** Answers that were not what was asked for, or older than their age. */
  readonly wrong: number;
}

export interface Counter {
  readonly name: string;
  readonly requests: number;
  readonly perSeconds: number;
  /** The most that arrived in any window of it. */
  readonly worst: number;
  /** The part of what it allows that arrived, from `countFrom` on. */
  readonly utilisation: number;
}

export interface Ages {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What an app's key is sized for: all of its phones, and all of them at once. */
const appPlan = { ratePerSecond: 2500, burst: 5000 } as const;

export async function study(options: StudyOptions): Promise<Measured> {
  const system = await createSystem(options);
  const { time, store, limiters, upstream, units, limiterUnits } = system;
  const load = new Load(options, system);
  load.begin();
  for (const span of options.upstreamDown ?? [])
    during(time, [span], (isDown) => upstream.setDown(isDown, span[2]));
  during(time, options.storeAway, (away) => store.setAway(away, options.awayPart));
  during(time, options.limiterAway, (away) => limiters.setAway(away, options.awayPart));
  during(time, options.throttled && [options.throttled], (on) => {
    for (const table of [units, limiterUnits]) table.setThrottled(on ? (options.throttled?.[2] ?? 0) : 0);
  });
  options.also?.(load.world);
  await time.runUntil(system.start + options.seconds * 1000);
  return measured(system, load.counts, options.countFrom ?? 0);
}

type System = Awaited<ReturnType<typeof createSystem>>;

/** All that serves the clients: instances, their stores and limiters, the upstream. */
export async function createSystem(options: Omit<StudyOptions, 'clients' | 'seconds'>) {
  const { seed = 1, directory = 'ready' } = options;
  const random = createRandom(seed);
  const time = new VirtualTime();
  const start = time.now();
  const bounds = options.platform ?? aws;
  const units = createUnitMeter(time, random, bounds);
  const limiterUnits = createUnitMeter(time, random, bounds);
  const store = new MeteredStore(time, random, units, (record) => options.onRecord?.(record, time.now()));
  const upstream = createVirtualUpstream(time, random, { exists, ...options });
  // The limiter has a table of its own.
  const limiters = createLimiters(time, random, limiterUnits, options.upstreamLimits);
  const plan = createUsagePlan({ ...appPlan, ...options.plan, clock: () => Math.floor(time.now()) });
  const directories = createVirtualDirectoryStore(time, random, units);
  const listed = market();
  const listings = createVirtualListings(time, random, listed);
  if (directory === 'ready') await directories.fill(listed);
  /** What an instance that begins is made of. */
  const instance = (): SnapshotCacheOptions => {
    const limiter = limiters.connect();
    return {
      store: store.connect(),
      permits: permitsOf(limiter, limiters.names),
      upstream: sendWithPermit(upstream.ask, { limiter, limits: limiters.names }, time, random),
      clock: time.now,
      sleep: time.sleep,
      random,
      ...(directory !== 'none' && { directory: { store: directories.connect(), listings } }),
      options: {
        instances: bounds.maxInstances,
        ...snapshotPaceOf(getStockSnapshots, options),
        ...options.figures,
      },
    };
  };
  const fleet = new Fleet(time, random, bounds, () => createSnapshotCache(instance()));
  return { time, random, start, units, limiterUnits, store, upstream, limiters, plan, fleet, instance };
}

/** What the clients got. */
class Counts {
  readonly ages = new Histogram();
  readonly oldest: number[] = [];
  readonly waits: number[] = [];
  requests = 0;
  answered = 0;
  unavailable = 0;
  wrong = 0;
  overPlan = 0;
  readonly bySecond: [answered: number, requests: number][] = [];
  readonly inFiveSeconds: [served: number, clients: number] = [0, 0];

  /** @param areAgesCounted whether its ages and its wait count */
  count(
    client: Client,
    outcome: SnapshotOutcome,
    waitMs: number,
    now: number,
    areAgesCounted: boolean,
  ): void {
    if (areAgesCounted) this.waits.push(waitMs);
    if (outcome.kind === 'snapshots') {
      this.answered++;
      if (areAgesCounted) {
        this.oldest.push(outcome.ageMs);
        for (const { sentAt } of outcome.snapshots) this.ages.add(now - sentAt);
      }
      if (outcome.snapshots.length !== client.existing) this.wrong++;
      // Parsing every record would take longer than all the rest.
      else if (this.requests % 97 === 0)
        for (const { record } of outcome.snapshots) if (now - madeAt(record) > outcome.ageMs) this.wrong++;
    } else if (outcome.kind === 'unavailable') this.unavailable++;
    else if (client.existing > 0) this.wrong++;
  }
}

/** The clients, each with its rhythm. */
class Load {
  readonly counts = new Counts();
  readonly #options: StudyOptions;
  readonly #system: System;
  readonly #everyMs: number;

  constructor(options: StudyOptions, system: System) {
    this.#options = options;
    this.#system = system;
    this.#everyMs = options.everyMs ?? 5000;
  }

  get world(): World {
    const { time, random, start } = this.#system;
    return { time, random, start, ask: (client) => this.#ask(client) };
  }

  begin(): void {
    const { clients, beginsAt = (_, chance) => (chance * this.#everyMs) / 1000 } = this.#options;
    for (const [index, client] of clients.entries())
      this.#begin(client, 1000 * beginsAt(index, this.#system.random()));
  }

  /** The client asks every so often; when refused, as soon as the answer suggests. */
  #begin(client: Client, at: number): void {
    const { time, start } = this.#system;
    const { inFiveSeconds } = this.counts;
    const first = start + at;
    let isServed = first > start + this.#options.seconds * 1000 - promisedMs;
    if (!isServed) inFiveSeconds[1]++;
    const again = async (): Promise<void> => {
      const outcome = await this.#ask(client);
      const now = time.now();
      const isAnswered = outcome?.kind === 'snapshots' || outcome?.kind === 'refused';
      if (isAnswered && !isServed) {
        isServed = true;
        if (now - first <= promisedMs) inFiveSeconds[0]++;
      }
      // Its own rhythm stays, whatever was refused in between.
      const nextMs = this.#everyMs - ((now - first) % this.#everyMs);
      time.after(isAnswered ? nextMs : Math.min(this.#retryMs(outcome), nextMs), again);
    };
    time.after(at, again);
  }

  async #ask(client: Client): Promise<SnapshotOutcome | undefined> {
    const { time, start, plan, fleet } = this.#system;
    const { counts, countFrom = 0, onAnswer } = this.#options;
    const arrived = time.now();
    this.counts.requests++;
    const { call } = client;
    const second = Math.floor((arrived - start) / 1000);
    const ofSecond = this.counts.bySecond[second] ?? [0, 0];
    this.counts.bySecond[second] = ofSecond;
    ofSecond[1]++;
    if (!plan.take(call.caller).allowed) {
      this.counts.overPlan++;
      return undefined;
    }
    const outcome = await fleet.serve(call);
    if (!outcome) return undefined;
    const now = time.now();
    if (outcome.kind === 'snapshots') ofSecond[0]++;
    const areAgesCounted = arrived >= start + countFrom * 1000 && (counts?.(client) ?? true);
    this.counts.count(client, outcome, now - arrived, now, areAgesCounted);
    onAnswer?.(client, outcome, arrived, now);
    return outcome;
  }

  /** A refusal of the platform's own suggests two seconds. */
  #retryMs(outcome: SnapshotOutcome | undefined): number {
    const seconds = outcome?.kind === 'unavailable' ? Math.ceil(outcome.retryAfterMs / 1000) : 2;
    return 1000 * seconds + 300 * this.#system.random();
  }
}

function measured(system: System, counts: Counts, countFrom: number): Measured {
  const { upstream, store, units, limiterUnits, fleet, limiters } = system;
  const { ages, oldest, waits, ...others } = counts;
  return {
    ...others,
    ages: ages.quantiles(),
    oldest: quantiles(oldest),
    waits: quantiles(waits),
    upstreamRequests: upstream.arrivals.length,
    worstMinute: worstWindow(upstream.arrivals, 60),
    counters: countersOf(system, countFrom),
    results: tally(upstream.requests.map(({ result }) => result)),
    perUpstreamRequest: counts.requests / Math.max(1, upstream.arrivals.length),
    meter: store.meter,
    units,
    limiterUnits,
    instances: fleet.size,
    peakInstances: fleet.peak,
    platformRefused: fleet.refused,
    limiter: limiters.meter,
  };
}

function during(time: VirtualTime, spans: readonly Span[] | undefined, set: (on: boolean) => void): void {
  for (const [from, to] of spans ?? []) {
    time.after(from * 1000, () => set(true));
    time.after(to * 1000, () => set(false));
  }
}

/** Within which a client that just began has an answer. */
const promisedMs = 5000;

/** Counts of whole milliseconds: a run has tens of millions of ages. */
export class Histogram {
  readonly #counts = new Float64Array(600_000);
  #total = 0;
  #max = 0;

  add(ms: number): void {
    this.#counts[Math.min(this.#counts.length - 1, Math.max(0, Math.floor(ms)))]!++;
    this.#total++;
    this.#max = Math.max(this.#max, ms);
  }

  quantiles(): Ages {
    const at = (part: number) => {
      let left = part * this.#total;
      for (let ms = 0; ms < this.#counts.length; ms++) {
        left -= this.#counts[ms]!;
        if (left < 0) return ms;
      }
      return this.#max;
    };
    return { p50: at(0.5), p99: at(0.99), max: this.#max };
  }
}

export function quantiles(values: readonly number[]): Ages {
  const sorted = Float64Array.from(values).sort();
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

function countersOf({ limiters, upstream, time, start }: System, countFrom: number): Counter[] {
  const from = start + countFrom * 1000;
  const seconds = (time.now() - from) / 1000;
  const counted = upstream.arrivals.filter((at) => at >= from).length;
  return Object.entries(limiters.limits).map(([name, { requests, perSeconds }]) => ({
    name,
    requests,
    perSeconds,
    worst: worstWindow(upstream.arrivals, perSeconds),
    utilisation: counted / ((seconds / perSeconds) * requests),
  }));
}

export function worstWindow(arrivals: readonly number[], perSeconds: number): number {
  const sorted = Float64Array.from(arrivals).sort();
  let worst = 0;
  for (let first = 0, last = 0; last < sorted.length; last++) {
    while (sorted[last]! - sorted[first]! >= perSeconds * 1000) first++;
    worst = Math.max(worst, last - first + 1);
  }
  return worst;
}

function tally(values: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const value of values) found[value] = (found[value] ?? 0) + 1;
  return found;
}
