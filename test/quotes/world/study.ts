/** One run of the production code under load on a virtual clock, and what was measured. */

import { packEntry } from '../../../functions/aws/quote-items.ts';
import type { Figures } from '../../../lib/gateway/quotes/figures.ts';
import { createQuotes, type QuoteOutcome } from '../../../lib/gateway/quotes/quotes.ts';
import type { Control, Entry } from '../../../lib/gateway/quotes/store.ts';
import { Fleet } from './fleet.ts';
import { type Client, exists } from './load.ts';
import { createMeteredStore, type Meter } from './metered-store.ts';
import { createPermits } from './permits.ts';
import { createVirtualUpstream, madeAt, type VirtualUpstreamOptions } from './upstream.ts';
import { createRandom, VirtualTime } from './virtual-time.ts';

export interface StudyOptions {
  readonly clients: readonly Client[];
  readonly seconds: number;
  readonly everyMs?: number;
  readonly seed?: number;
  readonly figures?: Partial<Figures>;
  readonly unknown?: VirtualUpstreamOptions['unknown'];
  readonly downBy?: VirtualUpstreamOptions['downBy'];
  /** Ages and waits count from this second on. Default 0: from the cold start. */
  readonly countFrom?: number;
  /** Whose ages count; everybody's when absent. */
  readonly counts?: (client: Client) => boolean;
  /** From and to, in seconds. */
  readonly upstreamDown?: readonly [number, number];
  readonly storeAway?: readonly [number, number];
  /** Told of each turn when it is written down. */
  readonly onEntry?: (entry: Entry, now: number) => void;
  /** Told of each answer. */
  readonly onAnswer?: (client: Client, outcome: QuoteOutcome, arrived: number, answered: number) => void;
  /** Further requests: called once with what asks. */
  readonly also?: (world: World) => void;
}

export interface World {
  readonly time: VirtualTime;
  readonly random: () => number;
  readonly start: number;
  ask(client: Client): Promise<QuoteOutcome>;
}

export interface Measured {
  readonly requests: number;
  readonly answered: number;
  /** Of each quote of each answer when it was answered, in milliseconds. */
  readonly ages: Ages;
  /** Of the oldest quote of each answer. */
  readonly oldest: Ages;
  /** How long the clients waited, in milliseconds. */
  readonly waits: Ages;
  readonly upstreamRequests: number;
  /** The most that arrived at the upstream in any 60 s. */
  readonly worstMinute: number;
  readonly results: Readonly<Record<string, number>>;
  readonly perUpstreamRequest: number;
  readonly meter: Meter;
  readonly instances: number;
  readonly unavailable: number;
  readonly permissions: number;
  /** Answers that were not what was asked for, or older than they said. */
  readonly wrong: number;
}

export interface Ages {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export async function study(options: StudyOptions): Promise<Measured> {
  const { clients, seconds, everyMs = 5000, seed = 1, countFrom = 0, counts = () => true } = options;
  const random = createRandom(seed);
  const time = new VirtualTime();
  const start = time.now();
  const store = createMeteredStore(time, random, {
    entry: (entry) => {
      options.onEntry?.(entry, time.now());
      return packEntry(entry).length + itemBytes;
    },
    control: controlBytes,
  });
  const upstream = createVirtualUpstream(time, random, { exists, ...options });
  // The budget has a table of its own, as fast as this one.
  const permits = createPermits(time, store.latency);
  const fleet = new Fleet(time, random, () =>
    createQuotes({
      store: store.shared,
      permissions: permits,
      upstream: upstream.ask,
      clock: time.now,
      sleep: time.sleep,
      random,
      ...(options.figures && { figures: options.figures }),
    }),
  );

  const ages = new Histogram();
  const oldest: number[] = [];
  const waits: number[] = [];
  let requests = 0;
  let answered = 0;
  let unavailable = 0;
  let wrong = 0;

  async function ask(client: Client): Promise<QuoteOutcome> {
    const arrived = time.now();
    requests++;
    const outcome = await fleet.serve(client.call);
    const now = time.now();
    const isCounted = arrived >= start + countFrom * 1000 && counts(client);
    if (isCounted) waits.push(now - arrived);
    if (outcome.kind === 'quotes') {
      answered++;
      if (isCounted) {
        oldest.push(outcome.ageMs);
        for (const { sentAt } of outcome.quotes) ages.add(now - sentAt);
      }
      if (outcome.quotes.length !== client.existing) wrong++;
      // Looking into every record would take longer than all the rest.
      else if (requests % 97 === 0)
        for (const { record } of outcome.quotes) if (now - madeAt(record) > outcome.ageMs) wrong++;
    } else if (outcome.kind === 'unavailable') unavailable++;
    else if (client.existing > 0) wrong++;
    options.onAnswer?.(client, outcome, arrived, now);
    return outcome;
  }

  for (const client of clients) {
    const again = (): void => {
      void ask(client);
      time.after(everyMs, again);
    };
    time.after(random() * everyMs, again);
  }
  during(time, options.upstreamDown, upstream.setDown);
  during(time, options.storeAway, store.setAway);
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
    instances: fleet.size,
    permissions: permits.given.length,
  };
}

function during(
  time: VirtualTime,
  span: readonly [number, number] | undefined,
  set: (on: boolean) => void,
): void {
  if (!span) return;
  time.after(span[0] * 1000, () => set(true));
  time.after(span[1] * 1000, () => set(false));
}

/** Names of the attributes, keys, time to live, and what DynamoDB adds to each item. */
const itemBytes = 60;
const controlBytes = ({ flights, wants }: Control) =>
  200 +
  flights.reduce((total, { marks }) => total + 40 + 2 * marks.length, 0) +
  wants.reduce((total, key) => total + key.length, 0);

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

/** On demand, us-east-1, since November 2024: dollars per million units. */
const dollars = { readUnit: 0.125, writeUnit: 0.625 };

export function report(name: string, measured: Measured): string {
  const { requests, ages, waits, meter } = measured;
  const seconds = ({ p50, p99, max }: Ages) => [p50, p99, max].map((ms) => (ms / 1000).toFixed(2)).join('/');
  const part = (count: number) => (count / requests).toFixed(3);
  const cost = (meter.readUnits * dollars.readUnit + meter.writeUnits * dollars.writeUnit) / requests;
  return [
    `${name}: ${requests} requests, ${((100 * measured.answered) / requests).toFixed(3)} % answered 200`,
    `${measured.unavailable} unavailable, ${measured.wrong} wrong`,
    `age p50/p99/max ${seconds(ages)} s, of the oldest in an answer ${seconds(measured.oldest)} s, wait ${seconds(waits)} s`,
    `upstream ${measured.upstreamRequests} (${measured.worstMinute} in the worst minute), ${measured.perUpstreamRequest.toFixed(0)} requests for each ${JSON.stringify(measured.results)}`,
    `${measured.instances} instances; units per request ${part(meter.readUnits)} read, ${part(meter.writeUnits)} write; $${cost.toFixed(3)} per million; ${meter.refused} refused turns of ${meter.entries}; ${(meter.entryBytes / Math.max(1, meter.entries)).toFixed(0)} bytes an entry`,
  ].join('\n  ');
}
