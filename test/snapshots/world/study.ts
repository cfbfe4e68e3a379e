/** One run of the production code under load on a virtual clock, and what was measured. */

import { createUsagePlan } from '../../../infra/local/usage-plan.ts';
import type { SnapshotOptions } from '../../../lib/cache/snapshots/options.ts';
import { createSnapshotCache, type SnapshotOutcome } from '../../../lib/cache/snapshots/snapshot-cache.ts';
import type { RefreshRecord } from '../../../lib/cache/snapshots/store.ts';
import { createVirtualDirectoryStore, createVirtualListings, market } from './directory.ts';
import { Fleet } from './fleet.ts';
import { createLimiters, type LimiterMeter, permitsOf, sendWithPermit } from './limiters.ts';
import { type Client, exists } from './load.ts';
import { type Meter, MeteredStore } from './metered-store.ts';
import { platform as aws, createUnitMeter, type Platform, type UnitMeter } from './platform.ts';
import { createVirtualUpstream, madeAt, type VirtualUpstreamOptions } from './upstream.ts';
import { createRandom, VirtualTime } from './virtual-time.ts';

export interface StudyOptions {
  readonly clients: readonly Client[];
  readonly seconds: number;
  readonly everyMs?: number;
  readonly seed?: number;
  readonly figures?: Partial<SnapshotOptions>;
  readonly unknown?: VirtualUpstreamOptions['unknown'];
  readonly downBy?: VirtualUpstreamOptions['downBy'];
  /** What the directory of symbols is at the beginning; `none`: there will be none. Default ready. */
  readonly directory?: 'ready' | 'empty' | 'none';
  /** Ages and waits count from this second on. Default 0: from the cold start. */
  readonly countFrom?: number;
  /** Whose ages count; default all clients'. */
  readonly counts?: (client: Client) => boolean;
  /** From and to, in seconds. */
  readonly platform?: Platform;
  /** What the usage plan lets each key do. Default that of an app of 10,000 phones. */
  readonly plan?: { readonly ratePerSecond: number; readonly burst: number };
  /** The second in which a client begins; default any of the first `everyMs`. */
  readonly beginsAt?: (index: number, chance: number) => number;
  readonly upstreamDown?: readonly [number, number];
  readonly storeAway?: readonly [number, number];
  readonly limiterAway?: readonly [number, number];
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

export interface Ages {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What an app's key is sized for: all of its phones, and all of them at once. */
const appPlan = { ratePerSecond: 2500, burst: 5000 } as const;

export async function study(options: StudyOptions): Promise<Measured> {
  const {
    clients,
    seconds,
    everyMs = 5000,
    seed = 1,
    directory = 'ready',
    countFrom = 0,
    counts = () => true,
  } = options;
  const random = createRandom(seed);
  const time = new VirtualTime();
  const start = time.now();
  const bounds = options.platform ?? aws;
  const units = createUnitMeter(time, random, bounds);
  const limiterUnits = createUnitMeter(time, random, bounds);
  const store = new MeteredStore(time, random, units, (record) => options.onRecord?.(record, time.now()));
  const upstream = createVirtualUpstream(time, random, { exists, ...options });
  // The limiter has a table of its own.
  const limiters = createLimiters(time, random, limiterUnits);
  const plan = createUsagePlan({ ...appPlan, ...options.plan, clock: () => Math.floor(time.now()) });
  const directories = createVirtualDirectoryStore(time, random, units);
  const listed = market();
  const listings = createVirtualListings(time, random, listed);
  if (directory === 'ready') await directories.fill(listed);
  const fleet = new Fleet(time, random, bounds, () => {
    const limiter = limiters.connect();
    return createSnapshotCache({
      store: store.connect(),
      permits: permitsOf(limiter),
      upstream: sendWithPermit(upstream.ask, limiter, time, random),
      clock: time.now,
      sleep: time.sleep,
      random,
      ...(directory !== 'none' && { directory: { store: directories.connect(), listings } }),
      figures: { instances: bounds.maxInstances, ...options.figures },
    });
  });

  const ages = new Histogram();
  const oldest: number[] = [];
  const waits: number[] = [];
  let requests = 0;
  let answered = 0;
  let unavailable = 0;
  let wrong = 0;
  let overPlan = 0;
  const bySecond: [number, number][] = [];
  const inFiveSeconds: [number, number] = [0, 0];

  async function ask(client: Client): Promise<SnapshotOutcome | undefined> {
    const arrived = time.now();
    requests++;
    const { call } = client;
    const second = Math.floor((arrived - start) / 1000);
    const counted = bySecond[second] ?? [0, 0];
    bySecond[second] = counted;
    counted[1]++;
    if (!plan.take(call.caller).allowed) {
      overPlan++;
      return undefined;
    }
    const outcome = await fleet.serve(call);
    if (!outcome) return undefined;
    const now = time.now();
    const isCounted = arrived >= start + countFrom * 1000 && counts(client);
    if (isCounted) waits.push(now - arrived);
    if (outcome.kind === 'quotes') {
      answered++;
      counted[0]++;
      if (isCounted) {
        oldest.push(outcome.ageMs);
        for (const { sentAt } of outcome.quotes) ages.add(now - sentAt);
      }
      if (outcome.quotes.length !== client.existing) wrong++;
      // Parsing every record would take longer than all the rest.
      else if (requests % 97 === 0)
        for (const { record } of outcome.quotes) if (now - madeAt(record) > outcome.ageMs) wrong++;
    } else if (outcome.kind === 'unavailable') unavailable++;
    else if (client.existing > 0) wrong++;
    options.onAnswer?.(client, outcome, arrived, now);
    return outcome;
  }

  /** Asks every so often; when refused, as soon as the answer suggests. */
  function begin(client: Client, at: number): void {
    const first = start + at;
    let isServed = first > start + seconds * 1000 - promisedMs;
    if (!isServed) inFiveSeconds[1]++;
    const again = async (): Promise<void> => {
      const outcome = await ask(client);
      const now = time.now();
      const isAnswered = outcome?.kind === 'quotes' || outcome?.kind === 'refused';
      if (isAnswered && !isServed) {
        isServed = true;
        if (now - first <= promisedMs) inFiveSeconds[0]++;
      }
      // Its own rhythm stays, whatever was refused in between.
      const nextMs = everyMs - ((now - first) % everyMs);
      time.after(isAnswered ? nextMs : Math.min(retryMs(outcome), nextMs), again);
    };
    time.after(at, again);
  }
  /** A refusal of the platform's own says two seconds to all. */
  const retryMs = (outcome: SnapshotOutcome | undefined) =>
    1000 * (outcome?.kind === 'unavailable' ? Math.ceil(outcome.retryAfterMs / 1000) : 2) + 300 * random();

  const { beginsAt = (_: number, chance: number) => (chance * everyMs) / 1000 } = options;
  for (const [index, client] of clients.entries()) begin(client, 1000 * beginsAt(index, random()));
  during(time, options.upstreamDown, upstream.setDown);
  during(time, options.storeAway, (away) => store.setAway(away, options.awayPart));
  during(time, options.limiterAway, (away) => limiters.setAway(away, options.awayPart));
  during(time, options.throttled, (on) => {
    for (const table of [units, limiterUnits]) table.setThrottled(on ? (options.throttled?.[2] ?? 0) : 0);
  });
  options.also?.({ time, random, start, ask });
  await time.runUntil(start + seconds * 1000);

  return {
    requests,
    answered,
    unavailable,
    wrong,
    ages: ages.quantiles(),
    oldest: quantiles(oldest),
    waits: quantiles(waits),
    upstreamRequests: upstream.arrivals.length,
    worstMinute: worstMinute(upstream.arrivals),
    results: tally(upstream.requests.map(({ result }) => result)),
    perUpstreamRequest: requests / Math.max(1, upstream.arrivals.length),
    meter: store.meter,
    units,
    limiterUnits: limiterUnits,
    instances: fleet.size,
    peakInstances: fleet.peak,
    platformRefused: fleet.refused,
    inFiveSeconds,
    bySecond,
    limiter: limiters.meter,
    overPlan,
  };
}

function during(
  time: VirtualTime,
  span: readonly [number, number, number?] | undefined,
  set: (on: boolean) => void,
): void {
  if (!span) return;
  time.after(span[0] * 1000, () => set(true));
  time.after(span[1] * 1000, () => set(false));
}

/** Within which a client that just began has an answer. */
const promisedMs = 5000;

/** Counts of whole milliseconds: a run has tens of millions of ages. */
class Histogram {
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

function worstMinute(arrivals: readonly number[]): number {
  const sorted = Float64Array.from(arrivals).sort();
  let worst = 0;
  for (let first = 0, last = 0; last < sorted.length; last++) {
    while (sorted[last]! - sorted[first]! >= 60_000) first++;
    worst = Math.max(worst, last - first + 1);
  }
  return worst;
}

function tally(values: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const value of values) found[value] = (found[value] ?? 0) + 1;
  return found;
}
