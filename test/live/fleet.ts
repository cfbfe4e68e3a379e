/**
 * Streams of many clients under the model of the platform: processes that each follow the refresh log, with a limit, a store
 * and an upstream that they share. What counts is the age on a client's screen, sampled once a second.
 */

import { defined } from '../../infra/defined.ts';
import { FollowedSnapshots } from '../../lib/cache/snapshots/index.ts';
import type { UpstreamLimits } from '../../lib/catalogue/limits.ts';
import { Quotes } from '../../lib/client/followed.ts';
import { serverSentEvents } from '../../lib/client/server-sent.ts';
import { jitteredMs } from '../../lib/kernel/pauses.ts';
import { QuoteHub } from '../../lib/live/quote-hub.ts';
import { createChannel } from '../market-stream/channel.ts';
import { type Client, createClients, exists } from '../snapshots/world/load.ts';
import { type Ages, createSystem, Histogram, quantiles, worstWindow } from '../snapshots/world/study.ts';
import { createRandom } from '../world/random.ts';

export interface StreamsOptions {
  readonly streams: number;
  readonly processes: number;
  readonly seconds: number;
  /** Within which all streams begin. Default 60. */
  readonly withinSeconds?: number;
  /** Ages count from this second on. */
  readonly countFrom: number;
  /** From and to, in seconds: no age counts, and those that come later are `afterwards`. */
  readonly uncounted?: readonly [number, number];
  readonly symbols?: number;
  /** All streams end in this second. */
  readonly allEndAt?: number;
  /** In these seconds a process dies, with what it has. */
  readonly deaths?: readonly number[];
  /** Clients whose screens are looked at. Default 300. */
  readonly looked?: number;
  /** The upstream's channel, which carries so many symbols; each changes so many times a second. Default none. */
  readonly channel?: { readonly carried: number; readonly perSecond: number };
  readonly upstreamLimits?: UpstreamLimits;
  /** Beside the streams a hundred of these clients also ask each so many milliseconds, for a screen of its own. */
  readonly polledEveryMs?: readonly number[];
  /** Called with each text that a stream sends. */
  readonly onText?: (stream: number, text: string, now: number) => void;
}

export interface MeasuredStreams {
  /** On the screens, in milliseconds. */
  readonly ages: Ages;
  /** The same after what is not counted. */
  readonly afterwards: Ages;
  /** The same of the symbols that the channel carries; `ages` are then those of the others. */
  readonly streamed: Ages;
  readonly batches: number;
  readonly batchBytes: number;
  /** On the screens of those that ask, in the order of `polledEveryMs`. */
  readonly polled: readonly Ages[];
  /** From its acceptance to its first event. */
  readonly firsts: Ages;
  /** From the loss of a connection to the acceptance of the next one. */
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
    polledEveryMs = [],
    uncounted: [from, to] = [seconds, seconds],
  } = options;
  const system = await createSystem(defined({ upstreamLimits: options.upstreamLimits }));
  const channel = options.channel && createChannel(system, { symbols, ...options.channel });
  const { time, random, start, units, upstream, plan } = system;
  const clients = createClients(createRandom(7), { clients: streams, symbols, callers: 1 });
  const [ages, streamed, afterwards] = [new Histogram(), new Histogram(), new Histogram()];
  const polled = polledEveryMs.map(() => new Histogram());
  const [firsts, returns]: [number[], number[]] = [[], []];
  let [refused, texts] = [0, 0];

  /** One process of the deployment; another takes its place when it dies. */
  const begin = () => {
    const cache = new FollowedSnapshots({ ...system.instance(), streamed: channel?.connect() }, processes);
    const state = { isDead: false };
    const hub = new QuoteHub({
      snapshots: cache,
      cause: () => undefined,
      isCurrent: async () => true,
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
    if (index < looked) look(client, ages, (symbol) => quotes.ageMs(symbol));
    for (let lostAt: number | undefined; ; ) {
      for (let failures = 0; !plan.take(client.call.caller).allowed; failures++) {
        refused++;
        await time.sleep(1000 + jitteredMs(backOff, failures, random));
      }
      await time.sleep(networkMs);
      if (lostAt !== undefined) returns.push(time.now() - lostAt);
      const accepted = time.now();
      const { cache, hub, state } = fleet[index % processes]!;
      const { view, symbols: asked, caller } = client.call;
      const askFor = (some: readonly string[]) =>
        cache.ask({ view, symbols: some, caller, deadline: time.now() + 5000 });
      await Promise.race([askFor(asked), time.sleep(700)]);
      const call = {
        caller,
        view,
        symbols: asked,
        endsAt: Number.POSITIVE_INFINITY,
        endsFor: 'time',
        askFor,
      } as const;
      const iterator = hub.open(call);
      let last = '';
      for (let isFirst = true; ; isFirst = false) {
        const next = await iterator.next();
        if (next.done || state.isDead) break;
        last = next.value;
        options.onText?.(index, last, time.now());
        if (isFirst) firsts.push(time.now() - accepted);
        texts++;
        if (index < looked) time.after(networkMs, () => void take(quotes, next.value));
      }
      lostAt = time.now();
      // What a dead process leaves is silence.
      const saidMs = state.isDead ? 12_000 : Number(/"retry_after_ms":(\d+)/.exec(last)?.[1]);
      await time.sleep(saidMs + jitteredMs(backOff, 0, random));
    }
  }

  function look({ call }: Client, ages: Histogram, ageMs: (symbol: string) => number | undefined): void {
    const again = () => {
      const second = (time.now() - start) / 1000;
      const others = second >= to ? afterwards : ages;
      if (second >= countFrom && (second < from || second >= to))
        for (const symbol of call.symbols.filter(exists)) {
          const age = ageMs(symbol);
          if (age !== undefined) (channel?.isCarried(symbol) ? streamed : others).add(age);
        }
      time.after(1000, again);
    };
    time.after(1000 * random(), again);
  }

  /** The same screen for a client that asks every so often. */
  function poll(client: Client, everyMs: number, ages: Histogram): void {
    let shown: ReadonlyMap<string, number> = new Map();
    const again = async () => {
      time.after(everyMs, again);
      const { allowed } = plan.take(client.call.caller);
      const outcome = allowed ? await system.fleet.serve(client.call) : undefined;
      if (outcome?.kind !== 'snapshots') return;
      const told = new Map(outcome.snapshots.map(({ symbol, sentAt }) => [symbol, sentAt]));
      time.after(2 * networkMs, () => {
        shown = told;
      });
    };
    time.after(everyMs * random(), again);
    look(client, ages, (symbol) => (shown.has(symbol) ? time.now() - shown.get(symbol)! : undefined));
  }

  for (const [at, everyMs] of polledEveryMs.entries())
    for (const client of clients.slice(0, 100)) poll(client, everyMs, polled[at]!);
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
    afterwards: afterwards.quantiles(),
    streamed: streamed.quantiles(),
    batches: channel?.meter.batches ?? 0,
    batchBytes: (channel?.meter.bytes ?? 0) / (channel?.meter.batches || 1),
    polled: polled.map((one) => one.quantiles()),
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

async function take(quotes: Quotes<object>, text: string): Promise<void> {
  async function* once() {
    yield new TextEncoder().encode(text);
  }
  for await (const event of serverSentEvents(once())) quotes.take(event);
}
