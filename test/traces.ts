/**
 * `npm run study -- traces`: what each room of the gateway does in small worlds and some hundred random interleavings, as lines
 * and their digests. `--save FILE` keeps the lines, `--against FILE` compares them with those of another version: a room that
 * was built anew behaves as before where no line differs.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { mock } from 'node:test';
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { RequestCounters } from '../infra/simulator/request-counters.ts';
import { createMemoryResponseStore, createResponseCache } from '../lib/cache/responses/index.ts';
import { createSnapshotCache } from '../lib/cache/snapshots/snapshot-cache.ts';
import { getStockSnapshots, operations, type UpstreamLimits } from '../lib/catalogue/index.ts';
import {
  createGateway,
  createLimitsInForce,
  createMemoryCacheStores,
  limiterLimits,
  limitsInForceKey,
  type Send,
} from '../lib/gateway/index.ts';
import { createGatewayLastPrices } from '../lib/gateway/orders/last-prices.ts';
import { createGuard } from '../lib/guard-rails/guard.ts';
import { createMemoryControls } from '../lib/guard-rails/index.ts';
import { createLimiter, createMemoryLimiterStore } from '../lib/limiter/index.ts';
import { createMemoryStreamStore, createStreamShares } from '../lib/live/stream-shares.ts';
import { createLookups } from '../lib/lookups/index.ts';
import { createMemoryOrderAudit, createOrderAudit } from '../lib/orders/audit.ts';
import { createHandOver } from '../lib/orders/hand-over.ts';
import { createMassCancels, createMemoryOrderJournal, createSettlement } from '../lib/orders/index.ts';
import { withChanges } from '../lib/orders/journal-changes.ts';
import { exposureFault } from './guard-rails/exposure-histories.ts';
import { handOverRules } from './guard-rails/hand-over-rules.ts';
import { releaseRules } from './guard-rails/release-rules.ts';
import { rules } from './guard-rails/rules.ts';
import { World } from './limiter/world/world.ts';
import { studyStreams } from './live/fleet.ts';
import { runOrderStreams } from './live/order-streams-chaos.ts';
import { runScenario } from './lookups/chaos/scenario.ts';
import { troubles } from './lookups/chaos/trouble.ts';
import { massCancelFault } from './orders/mass-cancel/histories.ts';
import { liveHistories } from './orders/model/random-histories.ts';
import { anyRun, liveRun } from './snapshots/world/interleavings.ts';
import { bearer, claimsOf, createTestAccess, grantsOf, user } from './support/access.ts';
import { accountId, orderBody, orderPath, requestOf, secretText } from './support/core.ts';
import { digestsOf, firstDifference, Trace, textOf } from './support/trace.ts';
import { sendTo, upstreamOfTest } from './support/upstream.ts';
import { useSynchronousCrypto } from './trade-events/world/synchronous-crypto.ts';
import { FakeTime } from './world/fake-time.ts';
import { createDice, createRandom, type Dice } from './world/random.ts';
import { VirtualTime } from './world/virtual-time.ts';

/** @param share of the worlds that a whole trace has; at least one of each kind */
type Room = (trace: Trace, share: number) => Promise<unknown>;

const times = (share: number, all: number) => Math.max(1, Math.round(share * all));
const repeat = async (count: number, run: (seed: number) => Promise<unknown>): Promise<void> => {
  for (let seed = 0; seed < count; seed++) await run(seed);
};
const textNames = { nameOf: async (...texts: readonly string[]) => texts.join('|') };

const orderSubject = (trace: Trace) => ({
  createHandOver: trace.watched(createHandOver),
  createSettlement: trace.watched(createSettlement),
  createMemoryOrderJournal,
});

export const rooms: Readonly<Record<string, Room>> = {
  async snapshots(trace, share) {
    const create = trace.watched(createSnapshotCache);
    for (const run of fc.sample(anyRun, { seed: 1, numRuns: times(share, 150) }))
      await liveRun(run, () => {}, create);
  },
  limiter: (trace, share) => repeat(times(share, 60), (seed) => useLimiter(trace, seed)),
  responses: (trace, share) => repeat(times(share, 100), (seed) => readResponses(trace, seed)),
  gateway: (trace, share) => repeat(times(share, 8), (seed) => useGateways(trace, seed)),
  async live(trace, share) {
    const onText = (stream: number, text: string, now: number) => trace.add('outcome', now, stream, text);
    const few = { streams: 20, processes: 3, withinSeconds: 5, seconds: 30, countFrom: 20, symbols: 60 };
    const channel = { carried: 30, perSecond: 2 };
    trace.add('report', 0, await studyStreams({ ...few, onText, allEndAt: 20, deaths: [12] }));
    trace.add('report', 0, await studyStreams({ ...few, onText, channel }));
    const onEvent = (...told: [string, string, string, number]) => trace.add('outcome', told[3], ...told);
    const trouble = { kills: 0.2, streamFaults: 0.2, storeFaults: 0.2, busRefusals: 0.2 };
    for (let seed = 0; seed < times(share, 2); seed++)
      trace.add('report', 0, await runOrderStreams({ minutes: 5, ...trouble, seed, onEvent }));
    await repeat(times(share, 50), (seed) => takeShares(trace, seed));
  },
  async lookups(trace, share) {
    const create = trace.watched(createLookups);
    const all = Object.values(troubles);
    for (let seed = 1; seed <= times(share, 60); seed++)
      trace.add('report', 0, await runScenario(seed, all[seed % all.length]!, create));
  },
  async orders(trace, share) {
    const { findings, figures } = await liveHistories(times(share, 60), orderSubject(trace));
    trace.add('report', 0, findings, figures);
    const subject = { createMassCancels: trace.watched(createMassCancels) };
    trace.add('report', 0, await massCancelFault(subject, times(share, 100)));
  },
  async 'guard-rails'(trace, share) {
    const subject = { ...orderSubject(trace), createGuard: trace.watched(createGuard) };
    for (const rule of [...rules, ...releaseRules, ...handOverRules]) await rule(subject);
    trace.add('report', 0, await exposureFault(auditing(trace, subject), times(share, 150)));
  },
};

/** Each journal tells its changes to an audit. */
function auditing(trace: Trace, subject: ReturnType<typeof orderSubject>): typeof subject {
  const createAudit = trace.watched(createOrderAudit);
  return {
    ...subject,
    createMemoryOrderJournal(kept) {
      const bus = { publish: async (events: readonly unknown[]) => events.map(() => true) };
      const audit = createAudit({
        store: createMemoryOrderAudit(),
        bus,
        names: textNames,
        reportFailure: () => {},
      });
      let changes = 0;
      return withChanges(
        createMemoryOrderJournal(kept),
        (change) => void audit.take([change]),
        () => ++changes,
      );
    },
  };
}

/** Instances of a limiter over two limits, one within the other, whose store fails now and then. */
async function useLimiter(trace: Trace, seed: number): Promise<void> {
  const limits = {
    'market-data': { requests: 60, perSeconds: 10 },
    quotes: { requests: 20, perSeconds: 10, within: 'market-data' },
  };
  const world = new World({
    seed,
    instances: 6,
    extreme: seed % 2 === 0,
    freezesPerMinute: 6,
    killsPerMinute: 6,
    slowConnections: 0.1,
    limiter: { limits, ...(seed % 3 === 0 && { reserve: { instances: 6, part: 0.2 } }) },
    create: trace.watched(createLimiter),
  });
  const faults = ['silent', 'throttled', 'unavailable', 'slow', 'invalid'] as const;
  world.store.fault = () => (world.random() < 0.05 ? faults[seed % 5] : undefined);
  await world.live(25_000, [
    { perMinute: 240, user: 'one' },
    { perMinute: 120, user: 'two', limits: ['market-data', 'quotes'] },
    { perMinute: 60, priority: 'events', waitMs: 4000 },
    { perMinute: 60, priority: 'background' },
  ]);
  void world.instances[0]?.limiter.block('world-app-key', 'quotes', 3000);
  await world.live(5000, [{ perMinute: 240 }]);
}

/** Instances of a response cache, before an upstream that refuses, is slow, and answers for one alone. */
async function readResponses(trace: Trace, seed: number): Promise<void> {
  const time = new VirtualTime();
  const { random, below } = createDice(seed);
  const awayAt = below(20_000);
  const startedAt = time.now();
  const maxBytes = 4000;
  const store = new Proxy(createMemoryResponseStore(), {
    get:
      (memory, name) =>
      async (...given: unknown[]) => {
        await time.sleep(2 + below(10));
        const at = time.now() - startedAt;
        if (at > awayAt && at < awayAt + 2000) throw new Error('away');
        // Callers exhaust smaller quotas within so few requests.
        if (name === 'countUse') given = [given[0], given[1], Math.ceil(Number(given[2]) / 16)];
        return Reflect.apply(Reflect.get(memory, name), memory, given);
      },
  });
  const create = trace.watched(createResponseCache);
  const instances = Array.from({ length: 4 }, () =>
    create({ store, clock: time.now, sleep: time.sleep, maxBytes }),
  );
  let calls = 0;
  for (let asked = 0; asked < 60; asked++)
    time.after(below(20_000), () => {
      const key = `key-${below(8)}`;
      void instances[below(4)]!.ask({
        key,
        caller: { unit: `unit-${below(2)}`, member: `member-${below(3)}` },
        freshness: { freshMs: below(3) * 1500, staleMs: below(3) * 3000 },
        fetchMs: 3000,
        deadline: time.now() + 1000 + below(8000),
        ...(random() < 0.2 && { maxAgeMs: below(5) * 1000 }),
        ...(random() < 0.1 && { maxStaleMs: below(3) * 1000 }),
        ...(random() < 0.1 && { onlyIfCached: true as const }),
        async fetch() {
          const call = ++calls;
          await time.sleep(50 + below(below(10) === 0 ? 4000 : 300));
          const isPrivate = random() < 0.1 && { isPrivate: true as const };
          const refusal = { code: 'upstream_error', call };
          if (random() < 0.2) return { kind: 'refused', refusal, ...isPrivate };
          const body = new TextEncoder().encode(textOf({ key, call, filling: 'x'.repeat(below(500)) }));
          return { kind: 'answer', body, ...isPrivate };
        },
      });
    });
  await time.runUntil(startedAt + 40_000);
}

/** Streams of two callers of one site. */
async function takeShares(trace: Trace, seed: number): Promise<void> {
  const time = new VirtualTime();
  const { now: clock, sleep } = time;
  const random = createRandom(seed);
  const memory = createMemoryStreamStore();
  const write: typeof memory.write = (...given) => sleep(random() * 20).then(() => memory.write(...given));
  const options = { max: 3, clock, sleep, random, store: { ...memory, write } };
  const shares = trace.watched((given: typeof options) => createStreamShares(given.store, given))(options);
  for (let stream = 0; stream < 30; stream++)
    time.after(random() * 20_000, async () => {
      const caller = { unit: `unit-${stream % 2}`, site: 'a-site' };
      const free = await shares.take({ ...requestOf('/'), caller }, clock() + 10_000);
      await sleep(random() * 5000);
      await free?.();
    });
  await time.runUntil(clock() + 60_000);
}

/** Whole gateways on shared stores, for two users and a stranger, before the simulated upstream. */
async function useGateways(trace: Trace, seed: number): Promise<void> {
  const time = new FakeTime().begin();
  const dice = createDice(seed);
  const { random, oneOf } = dice;
  const upstreamLimits = seed % 2 === 0 ? 'interface' : 'published';
  const counters = new RequestCounters({ upstreamLimits: 'published' });
  const toUpstream = sendTo(upstreamOfTest({ counters }), ({ status, body }) =>
    trace.add('call', Date.now(), 'answered', status, body),
  );
  const send: Send = async (request, limits) => {
    const drawn = random();
    if (drawn < 0.03) return { kind: 'unreachable' };
    const result = await toUpstream(request, limits);
    if (drawn > 0.07 || result.kind !== 'answer') return result;
    return drawn < 0.05 ? { kind: 'lost' } : { ...result, status: 503 };
  };
  const people = createTestAccess();
  await people.grant(user('ada'), grantsOf({ [accountId]: ['read', 'trade'] }, ['read', 'write']));
  await people.grant(user('ben'), grantsOf({ [accountId]: ['read'] }));
  const store = createMemoryLimiterStore();
  const cache = createMemoryCacheStores();
  const journal = createMemoryOrderJournal();
  const controls = createMemoryControls();
  controls.set('stack', { limits: { max_open_notional: '5000', max_order_quantity: '20' } });
  const makeLimiter = trace.watched(createLimiter);
  const limiterFor = (choice: UpstreamLimits) => {
    const limits = limiterLimits({}, 1, { upstreamLimits: choice, operations });
    return makeLimiter({ store, limits, bucket: 'trace', random, clock: Date.now, report: () => {} });
  };
  const create = trace.watched(createGateway);
  const gateways = Array.from({ length: 3 }, () => {
    const shared = {
      upstreamBaseUrl: 'https://upstream.example',
      secrets: { read: async () => secretText() },
      send,
      limiter: limiterFor(upstreamLimits),
      upstreamLimits,
      random,
      clock: Date.now,
    } as const;
    const lastPrices = createGatewayLastPrices(getStockSnapshots, shared);
    const inForce = createLimitsInForce({ store, key: limitsInForceKey('trace', upstreamLimits) });
    return create({
      ...shared,
      operations,
      access: people.access,
      cache,
      orders: { journal, names: textNames, guard: { controls, journal, lastPrices } },
      tightening: { inForce, limiterFor, report: () => {} },
      report: () => {},
      reportRefresh: () => {},
    });
  });
  const tokens = ['ada', 'ada', 'ben', 'eve'].map((name) => bearer(people.token(claimsOf(name))));
  const reads = operations.filter(({ sideEffect, gatewayAnswer }) => !sideEffect && !gatewayAnswer);
  const ask = async () => {
    const headers = { ...tokens[dice.below(4)], ...oneOf([{}, {}, { 'cache-control': 'max-age=1' }]) };
    const [target, body] = random() < 0.4 ? anOrder(dice) : aRead(reads[dice.below(reads.length)]!, dice);
    await gateways[dice.below(3)]!.handle(
      requestOf(target, { headers, ...(body !== undefined && { body }) }),
    );
  };
  try {
    await time.pass(40_000, (at) => {
      if (at < 30_000 && random() < 0.25) void ask();
    });
  } finally {
    time.stop();
  }
}

function aRead({ path, aliases, example, body }: (typeof operations)[number], { oneOf }: Dice) {
  const query = new URLSearchParams(example.query);
  if (query.has('symbols')) query.set('symbols', oneOf(['AAPL', 'MSFT,AAPL', 'NOSUCH', 'AAPL,NOSUCH,MSFT']));
  if (oneOf([0, 0, 0, 0, 1])) query.append(oneOf(['symbols', 'page_size', 'other']), oneOf(['', 'x', '1']));
  const target = `${oneOf([path, path, ...aliases])}?${query}`;
  return body ? ([target, JSON.stringify(example.body)] as const) : ([target] as const);
}

function anOrder({ oneOf, below }: Dice): readonly [string, string?] {
  const client_order_id = `order-number-${below(12)}`;
  const quantity = oneOf(['1', '2', '30', '0.5']);
  const target = { account_id: accountId, client_order_id };
  const placed = { client_order_id, quantity, ...oneOf([{}, { order_type: 'LIMIT', limit_price: '9.90' }]) };
  const replaced = { client_order_id, quantity, limit_price: oneOf(['9.80', '9.90']) };
  return oneOf<readonly [string, string?]>([
    [orderPath, orderBody(placed)],
    [orderPath, orderBody(placed)],
    [orderPath, orderBody({ client_order_id, symbol: oneOf(['NOSUCH', 'msft']) })],
    ['/trading/orders/replace', JSON.stringify({ account_id: accountId, modify_orders: [replaced] })],
    ['/trading/orders/cancel', JSON.stringify(target)],
    [`/trading/orders/outcome?${new URLSearchParams(target)}`],
  ]);
}

/** The lines of a room, the same each time. */
export async function traceOf(room: string, share = 1): Promise<readonly string[]> {
  const trace = new Trace();
  const restoreCrypto = useSynchronousCrypto();
  let ids = 0;
  const spies = [
    mock.method(Math, 'random', createRandom(7)),
    mock.method(crypto, 'randomUUID', () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`),
  ];
  try {
    await rooms[room]!(trace, share);
  } finally {
    for (const spy of spies) spy.mock.restore();
    restoreCrypto();
  }
  return trace.lines;
}

type Saved = Readonly<Record<string, readonly string[]>>;

/** @param args `--save FILE` or `--against FILE`, and names of rooms; all without any */
export async function studyTraces(args: readonly string[]): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { save: { type: 'string' }, against: { type: 'string' } },
  });
  const before: Saved = values.against ? JSON.parse(`${gunzipSync(readFileSync(values.against))}`) : {};
  const after: Record<string, readonly string[]> = {};
  let isSame = true;
  for (const room of positionals.length > 0 ? positionals : Object.keys(rooms)) {
    const lines = await traceOf(room);
    after[room] = lines;
    const known = before[room] && digestsOf(before[room]);
    const told = digestsOf(lines).map((one, at) => (!known || known[at] === one ? one : `${one} DIFFERS`));
    console.log(`${room}: ${told.join(', ')}`);
    const difference = before[room] && firstDifference(before[room], lines);
    if (difference) console.log(`  ${difference}`);
    isSame &&= !difference;
  }
  if (values.save) writeFileSync(values.save, gzipSync(JSON.stringify(after)));
  return isSame;
}
