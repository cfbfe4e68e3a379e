/**
 * A deployment whose choice of limits is wrong: the upstream allows less. Whole gateways on shared stores before the
 * simulated upstream, on a virtual clock; what is counted minute by minute.
 */

import { mock } from 'node:test';
import { RequestCounters } from '../../infra/simulator/request-counters.ts';
import { createWorld } from '../../infra/simulator/world.ts';
import { getStockSnapshots, operations, type UpstreamLimits } from '../../lib/catalogue/index.ts';
import {
  createLimiter,
  createLimitsInForce,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  limiterLimits,
  limitsInForceKey,
  type RateLimitReport,
} from '../../lib/gateway/index.ts';
import { existingStocks } from '../snapshots/world/load.ts';
import { gatewayOf, requestOf } from '../support/core.ts';
import { sendTo, upstreamOfTest } from '../support/upstream.ts';
import { FakeTime } from '../world/fake-time.ts';
import { createRandom } from '../world/random.ts';

export interface WrongPreset {
  readonly configured: UpstreamLimits;
  /** What the upstream allows. */
  readonly allowed: UpstreamLimits;
  readonly minutes: number;
  readonly phones?: number;
  readonly instances?: number;
  /** Requests a minute of others on the same app key. Default none. */
  readonly others?: number;
  /** The minute at whose beginning an operator ends the tighter limits. Default never. */
  readonly resetAt?: number;
  /** Of the random numbers by which instances spread their attempts. Default 1. */
  readonly seed?: number;
}

export interface Minute {
  /** Requests that arrived at the upstream, those that it refused too. */
  sent: number;
  rateLimited: number;
  asked: number;
  answered: number;
  readonly ages: number[];
}

export interface WrongPresetResult {
  readonly minutes: readonly Minute[];
  readonly reports: readonly (RateLimitReport & { readonly second: number })[];
}

const start = Date.UTC(2026, 10, 20, 15);

/** Instances on the same stores, before an upstream that counts by itself. */
function createFleet({ configured, allowed, instances = 5, others = 0 }: WrongPreset, count: Minute[]) {
  const counters = new RequestCounters({ upstreamLimits: allowed });
  const upstream = upstreamOfTest({ counters, world: createWorld(1) });
  const reports: (RateLimitReport & { second: number })[] = [];
  const minuteOf = () => count[Math.floor((Date.now() - start) / 60_000)];
  const send = sendTo(upstream, ({ status }) => {
    const minute = minuteOf();
    if (minute) minute.sent++;
    if (minute && status === 429) minute.rateLimited++;
  });
  const store = createMemoryLimiterStore();
  const cache = createMemoryCacheStores();
  const key = limitsInForceKey('test', configured);
  const limiterFor = (upstreamLimits: UpstreamLimits) =>
    createLimiter({ store, limits: limiterLimits({}, 1, { upstreamLimits, operations }), bucket: 'test' });
  const gateways = Array.from({ length: instances }, () =>
    gatewayOf({
      limiter: limiterFor(configured),
      upstreamLimits: configured,
      tightening: {
        inForce: createLimitsInForce({ store, key }),
        limiterFor,
        report: (report) => reports.push({ ...report, second: Math.round((Date.now() - start) / 1000) }),
      },
      cache,
      send,
    }),
  );
  return {
    gateways,
    reports,
    /** Those of others on the same app key, which pass no gateway. */
    sendOthers(at: number) {
      if (others > 0 && at % (60_000 / others) < stepMs) counters.admit(getStockSnapshots, Date.now());
    },
    /** What the operator's command does. */
    async reset() {
      const item = await store.read(key);
      if (item) await store.replace(key, item, { ...item, revision: 'none', text: '{}' }, 0);
    },
  };
}

const stepMs = 50;

/** Phones ask for twenty of two hundred symbols every five seconds. */
export async function runWrongPreset(options: WrongPreset): Promise<WrongPresetResult> {
  const { minutes, phones = 100, resetAt, seed = 1 } = options;
  const count = Array.from(
    { length: minutes },
    (): Minute => ({ sent: 0, rateLimited: 0, asked: 0, answered: 0, ages: [] }),
  );
  const time = new FakeTime(start, stepMs).begin();
  const random = mock.method(Math, 'random', createRandom(seed));
  try {
    const fleet = createFleet(options, count);
    const symbols = existingStocks.slice(0, 200);
    const ask = async (phone: number, minute: Minute) => {
      const chosen = Array.from({ length: 20 }, (_, index) => symbols[(phone * 7 + index * 9) % 200]);
      const gateway = fleet.gateways[(phone + minute.asked) % fleet.gateways.length]!;
      minute.asked++;
      const target = `${getStockSnapshots.path}?category=US_STOCK&symbols=${chosen.join(',')}`;
      const { status, headers } = await gateway.handle(requestOf(target));
      if (status !== 200) return;
      minute.answered++;
      minute.ages.push(Number(headers.age ?? 0));
    };
    await time.pass(minutes * 60_000, (at) => {
      const minute = count[Math.floor(at / 60_000)]!;
      if (resetAt !== undefined && at === resetAt * 60_000) void fleet.reset();
      fleet.sendOthers(at);
      for (let phone = 0; phone < phones; phone++)
        if (Math.floor((phone * 5000) / phones / stepMs) * stepMs === at % 5000) void ask(phone, minute);
    });
    return { minutes: count, reports: fleet.reports };
  } finally {
    random.mock.restore();
    time.stop();
  }
}

/** `npm run study -- wrong-preset`: the figures of docs/limits.md. */
export async function studyWrongPreset(): Promise<boolean> {
  const runs: readonly (readonly [name: string, WrongPreset])[] = [
    ['interface, allowed published', { configured: 'interface', allowed: 'published', minutes: 6 }],
    [
      'interface, allowed published-sandbox',
      { configured: 'interface', allowed: 'published-sandbox', minutes: 8 },
    ],
    [
      'published, others send 50 a minute on the same app key',
      { configured: 'published', allowed: 'published', others: 50, minutes: 6 },
    ],
  ];
  for (const [name, options] of runs) {
    const { minutes, reports } = await runWrongPreset(options);
    console.log(`${name}: ${minutes.reduce((sum, { rateLimited }) => sum + rateLimited, 0)} refused in all`);
    for (const [index, { sent, rateLimited, asked, answered, ages }] of minutes.entries()) {
      const sorted = [...ages].sort((a, b) => a - b);
      const ofAges = [0.5, 0.99].map((part) => sorted[Math.floor(sorted.length * part)]).join(', ');
      console.log(
        `  minute ${index + 1}: ${sent} sent, ${rateLimited} refused; ${((100 * answered) / asked).toFixed(1)} % answered, ages p50, p99 ${ofAges} s`,
      );
    }
    for (const { second, verdict, kept } of reports) console.log(`  second ${second}: ${verdict}, ${kept}`);
  }
  return true;
}
