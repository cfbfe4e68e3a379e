/**
 * Streams of many clients under the model of the platform: processes that each follow the refresh log, with a limit, a store
 * and an upstream that they share. What counts is the age on a client's screen, sampled once a second.
 */

import { FollowedSnapshots } from '../../lib/cache/snapshots/index.ts';
import { Quotes } from '../../lib/client/followed.ts';
import { serverSentEvents } from '../../lib/client/server-sent.ts';
import { jitteredMs } from '../../lib/kernel/pauses.ts';
import { QuoteHub } from '../../lib/live/quote-hub.ts';
import { type Client, createClients, exists } from '../snapshots/world/load.ts';
import {
  type Ages,
  createSystem,
  Histogram,
  quantiles,
  study,
  worstWindow,
} from '../snapshots/world/study.ts';
import { createRandom } from '../support/virtual-time.ts';

export interface StreamsOptions {
  readonly streams: number;
  readonly processes: number;
  readonly seconds: number;
  /** Within which all streams begin. Default 60. */
  readonly withinSeconds?: number;
  /** Ages count from this second on. */
  readonly countFrom: number;
  readonly symbols?: number;
  /** All streams end in this second. */
  readonly allEndAt?: number;
  /** In these seconds a process dies, with what it has. */
  readonly deaths?: readonly number[];
  /** Clients whose screens are looked at. Default 300. */
  readonly looked?: number;
}

export interface MeasuredStreams {
  /** On the screens, in milliseconds. */
  readonly ages: Ages;
  /** From its acceptance to its first event. */
  readonly firsts: Ages;
  /** From the first try to the acceptance, of connections that came back. */
  readonly returns: Ages;
  readonly refused: number;
  readonly worstMinute: number;
  readonly upstreamRequests: number;
  readonly peakOfKey: { readonly read: number; readonly write: number };
  /** Of reading, each second. */
  readonly readUnits: number;
  readonly throttled: number;
  readonly texts: number;
}

const networkMs = 50;
/** Of the typed client. */
const backOff = { firstMs: 1000, maxMs: 30_000 };

export async function studyStreams(options: StreamsOptions): Promise<MeasuredStreams> {
  const {
    streams,
    processes,
    seconds,
    countFrom,
    withinSeconds = 60,
    looked = 300,
    symbols = 1000,
  } = options;
  const system = await createSystem({});
  const { time, random, start, units, upstream, plan } = system;
  const clients = createClients(createRandom(7), { clients: streams, symbols, callers: 1 });
  const ages = new Histogram();
  const [firsts, returns]: [number[], number[]] = [[], []];
  let [refused, texts] = [0, 0];

  /** One process of the deployment; another takes its place when it dies. */
  const begin = () => {
    const cache = new FollowedSnapshots(system.instance(), processes);
    const state = { isDead: false };
    const hub = new QuoteHub({
      source: {
        follow: () => cache.follow(),
        look: (view, symbol) => cache.look(view, symbol),
        count: (view, symbol, times) => cache.count(view, symbol, times),
        cause: () => undefined,
        isCurrent: async () => true,
      },
      clock: time.now,
      sleep: time.sleep,
      random,
      onFailure: (error) => {
        throw error;
      },
    });
    return { cache, hub, state };
  };
  const fleet = Array.from({ length: processes }, begin);

  async function live(client: Client, index: number): Promise<void> {
    const quotes = new Quotes<object>(time.now);
    if (index < looked) look(client, quotes);
    for (let failures = 0; ; failures++) {
      const tried = time.now();
      while (!plan.take(client.call.caller).allowed) {
        refused++;
        await time.sleep(1000 + jitteredMs(backOff, failures++, random));
      }
      await time.sleep(networkMs);
      if (failures > 0) returns.push(time.now() - tried);
      const accepted = time.now();
      const { cache, hub, state } = fleet[index % processes]!;
      const { view, symbols: asked, caller } = client.call;
      const askFor = (some: readonly string[], ms = 5000) =>
        cache.ask({ view, symbols: some, caller, deadline: time.now() + ms });
      await askFor(asked, 700);
      const call = {
        view,
        symbols: asked,
        endsAt: Number.POSITIVE_INFINITY,
        endsFor: 'time',
        askFor,
      } as const;
      const iterator = hub.open(call)[Symbol.asyncIterator]();
      for (let isFirst = true; ; isFirst = false) {
        const next = await iterator.next();
        if (next.done || state.isDead) break;
        if (isFirst) firsts.push(time.now() - accepted);
        texts++;
        if (index < looked) time.after(networkMs, () => void take(quotes, next.value));
      }
      // What a dead process leaves is silence.
      await time.sleep((state.isDead ? 12_000 : 0) + jitteredMs(backOff, 0, random));
    }
  }

  function look(client: Client, quotes: Quotes<object>): void {
    const again = () => {
      if (time.now() - start >= countFrom * 1000)
        for (const symbol of client.call.symbols) {
          const ageMs = exists(symbol) ? quotes.ageMs(symbol) : undefined;
          if (ageMs !== undefined) ages.add(ageMs);
        }
      time.after(1000, again);
    };
    time.after(1000 * random(), again);
  }

  for (const [index, client] of clients.entries())
    time.after(1000 * withinSeconds * random(), () => void live(client, index));
  if (options.allEndAt !== undefined)
    time.after(1000 * options.allEndAt, () => {
      for (const { hub } of fleet) hub.close();
    });
  for (const second of options.deaths ?? [])
    time.after(1000 * second, () => {
      const index = Math.floor(random() * processes);
      const { state, hub } = fleet[index]!;
      fleet[index] = begin();
      state.isDead = true;
      hub.close();
    });
  await time.runUntil(start + seconds * 1000);
  return {
    ages: ages.quantiles(),
    firsts: quantiles(firsts),
    returns: quantiles(returns),
    refused,
    worstMinute: worstWindow(upstream.arrivals, 60),
    upstreamRequests: upstream.arrivals.length,
    peakOfKey: units.peakOfKey,
    readUnits: units.total.read / seconds,
    throttled: units.throttled,
    texts,
  };
}

/** The same screens where each client asks every so often. */
export async function studyPolling(
  everyMs: number,
  { streams, seconds, countFrom, looked = 300, symbols = 1000 }: Omit<StreamsOptions, 'processes'>,
): Promise<Pick<MeasuredStreams, 'ages' | 'worstMinute'>> {
  const clients = createClients(createRandom(7), { clients: streams, symbols, callers: 1 });
  const ages = new Histogram();
  const shown = new Map<Client, ReadonlyMap<string, number>>();
  let later = (run: () => void): void => run();
  const { worstMinute } = await study({
    clients,
    seconds,
    everyMs,
    plan: { ratePerSecond: 1_000_000, burst: 1_000_000 },
    onAnswer(client, outcome) {
      if (outcome.kind !== 'snapshots') return;
      const records = new Map(outcome.snapshots.map(({ symbol, sentAt }) => [symbol, sentAt]));
      later(() => shown.set(client, records));
    },
    also({ time, start, random }) {
      later = (run) => void time.after(2 * networkMs, run);
      const look = (client: Client) => {
        if (time.now() - start >= countFrom * 1000)
          for (const at of shown.get(client)?.values() ?? []) ages.add(time.now() - at);
        time.after(1000, () => look(client));
      };
      for (const client of clients.slice(0, looked)) time.after(1000 * random(), () => look(client));
    },
  });
  return { ages: ages.quantiles(), worstMinute };
}

async function take(quotes: Quotes<object>, text: string): Promise<void> {
  async function* once() {
    yield new TextEncoder().encode(text);
  }
  for await (const event of serverSentEvents(once())) quotes.take(event);
}
