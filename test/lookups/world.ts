/** A queue, a bus, dead letters and an upstream in memory, on a clock that only the test advances. */

import { operations } from '../../lib/catalogue/index.ts';
import type { GatewayRequest, Outcome, Refusal } from '../../lib/gateway/index.ts';
import {
  type BusDetail,
  createLookups,
  createMemoryLookupStore,
  type LookupMessage,
  type LookupReport,
  type Lookups,
  type LookupsOptions,
  type Wait,
} from '../../lib/lookups/index.ts';

export interface Queued extends LookupMessage {
  visibleAt: number;
  receives: number;
}

/** What stands in for the upstream: records by symbol, or why not. */
export type Upstream = (request: GatewayRequest) => string | Refusal | Outcome;

export const symbolsOf = ({ query }: GatewayRequest): readonly string[] =>
  query.find(([name]) => name === 'symbols')?.[1].split(',') ?? [];

/** Unusual on purpose: serialising such a record again would change it. */
export const recordOf = (symbol: string) => `{"symbol":"${symbol}", "price":"1.10","volume":1e2}`;

/** Knows every symbol but those that begin with X, for which the whole call is refused. */
export const market: Upstream = (request) => {
  const symbols = symbolsOf(request);
  if (symbols.some((symbol) => symbol.startsWith('X'))) return { code: 'upstream_rejected', status: 417 };
  return `[${symbols.map(recordOf).join(' ,')}]`;
};

export interface World {
  now: number;
  upstream: Upstream;
  readonly lookups: Lookups;
  readonly queue: Queued[];
  readonly dead: { readonly body: string; readonly reason: string }[];
  readonly published: BusDetail[];
  readonly waits: Wait[];
  readonly calls: GatewayRequest[];
  readonly reports: LookupReport[];
  /** What is to run when time goes on; a test runs it. */
  readonly alarms: Set<() => void>;
  readonly options: LookupsOptions;
  send(body: unknown): Queued;
  /** Takes what is visible as a function does, once. @returns how many it took */
  deliver(most?: number, lookups?: Lookups): Promise<number>;
  /** Delivers and lets time pass until the queue is empty. */
  run(lookups?: Lookups): Promise<void>;
  /** What was published to a request, each content once. */
  repliesTo(id: string): readonly Reply[];
}

export interface Reply {
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export const limitMs = 25_000;
export const visibilityMs = 6 * limitMs;

export function createWorld(change: Partial<LookupsOptions> = {}): World {
  let messages = 0;
  const store = createMemoryLookupStore();
  const queue: Queued[] = [];
  const gateway: LookupsOptions['gateway'] = {
    async ask(request) {
      world.calls.push(request);
      const answer = world.upstream(request);
      if (typeof answer === 'string') return { kind: 'uncached', body: new TextEncoder().encode(answer) };
      return 'code' in answer ? { kind: 'refused', refusal: answer } : answer;
    },
  };
  const add = (message: Omit<Queued, 'id' | 'receives'>): Queued => {
    const queued = { ...message, id: `message-${++messages}`, receives: 0 };
    queue.push(queued);
    return queued;
  };
  const options: LookupsOptions = {
    gateway,
    operations,
    store,
    queue: {
      async putAgain(waits) {
        for (const wait of waits) {
          world.waits.push(wait);
          const { body, sentAt, waits: before } = wait.message;
          add({ body, sentAt, waits: before + 1, visibleAt: world.now + wait.seconds * 1000 });
        }
        return new Set();
      },
      async deadLetter({ body }, reason) {
        world.dead.push({ body, reason });
      },
    },
    bus: {
      async publish(entries) {
        world.published.push(...entries);
        return entries.map(() => true);
      },
    },
    clock: () => world.now,
    ages: undefined,
    names: undefined,
    after: (_, run) => {
      world.alarms.add(run);
      return () => world.alarms.delete(run);
    },
    random: () => 0.5,
    report: (report) => world.reports.push(report),
    ...change,
  };
  const world: World = {
    now: Date.UTC(2026, 10, 20, 15),
    upstream: market,
    lookups: createLookups(options),
    queue,
    dead: [],
    published: [],
    waits: [],
    calls: [],
    reports: [],
    alarms: new Set(),
    options,
    send: (body) =>
      add({
        body: typeof body === 'string' ? body : JSON.stringify(body),
        sentAt: world.now,
        waits: 0,
        visibleAt: world.now,
      }),
    async deliver(most = 100, lookups = world.lookups) {
      const batch = queue.filter(({ visibleAt }) => visibleAt <= world.now).slice(0, most);
      if (batch.length === 0) return 0;
      for (const message of batch) {
        message.visibleAt = world.now + visibilityMs;
        message.receives++;
      }
      const again = await lookups.batch(batch, world.now + limitMs);
      for (const message of batch) if (!again.includes(message.id)) queue.splice(queue.indexOf(message), 1);
      return batch.length;
    },
    async run(lookups) {
      for (let rounds = 0; queue.length > 0; rounds++) {
        if (rounds > 10_000) throw new Error('the queue is never empty');
        if ((await world.deliver(100, lookups)) > 0) continue;
        world.now = Math.min(...queue.map(({ visibleAt }) => visibleAt));
      }
    },
    repliesTo(id) {
      const texts = world.published.filter(({ detail }) => JSON.parse(detail).request_id === id);
      const distinct = new Map(texts.map((one) => [one.detail, one]));
      return [...distinct.values()].map(({ detailType, detail }) => ({
        type: detailType,
        detail: JSON.parse(detail),
        text: detail,
      }));
    },
  };
  return world;
}

let ids = 0;

export const quotes = (symbols: readonly string[], more: Readonly<Record<string, unknown>> = {}) => ({
  request_id: `request-${++ids}`,
  symbols,
  category: 'US_STOCK',
  ...more,
});
