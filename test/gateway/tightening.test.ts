/** What follows from the upstream's 429, by what the gateway itself has sent: tighter limits for all, or a pause alone. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  getStockBars,
  getStockSnapshots,
  listAccounts,
  listOpenOrders,
  listStockTicks,
  operations,
  previewOrder,
  type UpstreamLimits,
} from '../../lib/catalogue/index.ts';
import {
  createLimiter,
  createLimitsInForce,
  createMemoryLimiterStore,
  type Gateway,
  type GatewayOptions,
  type LimiterStore,
  limiterLimits,
  limitsInForceKey,
  type RateLimitReport,
  type Send,
  tighterLimiterLimits,
} from '../../lib/gateway/index.ts';
import { accountId, ask, gatewayOf, orderBody, requestOf } from '../support/core.ts';
import { until } from '../support/until.ts';

const snapshots = `${getStockSnapshots.path}?symbols=AAPL&category=US_STOCK`;
const openOrders = `${listOpenOrders.path}?account_id=${accountId}`;

interface Setting {
  readonly limits?: UpstreamLimits;
  readonly share?: number;
  readonly options?: Partial<GatewayOptions>;
}

/** Instances on one store; the upstream answers 429 while `refuses`. Nothing is cached. */
function createWorld({ limits = 'interface', share = 1, options = {} }: Setting = {}) {
  const memory = createMemoryLimiterStore();
  const world = {
    now: Date.UTC(2026, 10, 20, 15),
    refuses: false,
    sent: 0,
    isAway: false,
    answersAfter: async () => {},
  };
  const reports: RateLimitReport[] = [];
  const clock = () => world.now;
  const unlessAway =
    <A extends unknown[], T>(run: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      if (world.isAway) throw new Error('away');
      return run(...given);
    };
  const store: LimiterStore = {
    read: unlessAway(memory.read),
    add: unlessAway(memory.add),
    replace: unlessAway(memory.replace),
  };
  const send: Send = async (_, { letGo }) => {
    let status = 200;
    const leave = () => {
      world.sent++;
      status = world.refuses ? 429 : 200;
    };
    if (!letGo) leave();
    else if (!(await letGo(leave))) return { kind: 'not_sent' };
    await world.answersAfter();
    return { kind: 'answer', status, header: () => undefined, body: new TextEncoder().encode('[]') };
  };
  const key = limitsInForceKey('test', limits);
  const instance = (own = operations): Gateway =>
    gatewayOf({
      operations: own,
      upstreamLimits: limits,
      limiter: createLimiter({
        store,
        bucket: 'test',
        clock,
        limits: limiterLimits({}, share, { upstreamLimits: limits, operations: own }),
      }),
      tightening: {
        inForce: createLimitsInForce({ store, key, clock }),
        share,
        limiterFor: (upstreamLimits) =>
          createLimiter({
            store,
            bucket: 'test',
            clock,
            limits: tighterLimiterLimits({}, share, { upstreamLimits, operations: own }),
          }),
        report: (report) => reports.push(report),
      },
      send,
      clock,
      ...options,
    });
  /** Asks so often, and says what the last answer was. */
  async function times(gateway: Gateway, count: number, target = snapshots): Promise<string> {
    let status = 0;
    for (let request = 0; request < count; request++) {
      const answer = await gateway.handle({ ...requestOf(target), deadline: world.now + 1100 });
      status = answer.status;
    }
    return String(status);
  }
  /** The upstream refuses one request. */
  async function refuse(gateway: Gateway, target: string, body?: string): Promise<string> {
    world.refuses = true;
    const { text, status } = await ask(gateway, target, body === undefined ? {} : { body });
    world.refuses = false;
    return `${status} ${(JSON.parse(text) as { code: string }).code}`;
  }
  return { world, reports, instance, times, refuse, store: memory, key };
}

const said = (reports: readonly RateLimitReport[]) =>
  reports.map(({ verdict, kept }) => `${verdict} ${kept}`);

describe('a refusal that a tighter choice would have prevented', () => {
  test('takes all instances over to it: the endpoint has a counter from then on, and what was refused pauses', async () => {
    const { world, reports, instance, times, refuse } = createWorld();
    const [one, other] = [instance(), instance()];
    assert.equal(await times(one, 70), '200');
    assert.equal(await times(other, 5), '200');
    assert.equal(await refuse(one, snapshots), '503 upstream_rate_limited');
    assert.deepEqual(said(reports), ['tightened published']);
    const before = world.sent;
    for (let second = 0; second < 60; second += 5) {
      for (const gateway of [one, other, instance()]) assert.equal(await times(gateway, 1), '429');
      world.now += 5000;
    }
    assert.equal(world.sent, before);
    world.now += 4000;
    // No burst right after a pause.
    await times(one, 3);
    world.now += 60_000;
    // Whichever instance asks: one that was there, one that was idle, one that starts.
    for (const gateway of [one, other, instance()]) await times(gateway, 40);
    assert.ok(world.sent - before >= 50 && world.sent - before <= 60, `${world.sent - before}`);
  });

  test('at an endpoint that had no counter, of which nothing is known', async () => {
    const { world, reports, instance, times, refuse } = createWorld();
    const gateway = instance();
    assert.equal(await times(gateway, 9, listAccounts.path), '200');
    await refuse(gateway, listAccounts.path);
    assert.deepEqual(said(reports), ['tightened published']);
    assert.equal(await times(gateway, 1, listAccounts.path), '429');
    world.now += 63_000;
    const before = world.sent;
    await times(gateway, 10, listAccounts.path);
    assert.ok(world.sent - before <= 6, `${world.sent - before}`);
  });

  test('goes past a choice that would have sent as much', async () => {
    const { reports, instance, times, refuse } = createWorld();
    const gateway = instance();
    await times(gateway, 45);
    await refuse(gateway, snapshots);
    assert.deepEqual(said(reports), ['tightened published-sandbox']);
  });

  test('with figures of the deployer: the stricter of them and the published ones, by kind', async () => {
    const limits = {
      'market-data': { requests: 100, perSeconds: 60 },
      token: { requests: 1, perSeconds: 60 },
    };
    const { reports, instance, times, refuse } = createWorld({ limits });
    const gateway = instance();
    await times(gateway, 80);
    await refuse(gateway, snapshots);
    const kept = JSON.parse(reports[0]!.kept) as Record<string, unknown>;
    assert.deepEqual(kept['market-data'], { requests: 60, perSeconds: 60 });
    assert.deepEqual(kept.token, { requests: 1, perSeconds: 60 });
    assert.deepEqual(kept['order-query'], { requests: 2, perSeconds: 2 });
  });

  test('with a share that leaves nothing of a tighter limit: one request of it all the same', async () => {
    const { world, reports, instance, times, refuse } = createWorld({ share: 0.2 });
    const gateway = instance();
    await times(gateway, 20);
    await refuse(gateway, snapshots);
    assert.deepEqual(said(reports), ['tightened published']);
    world.now += 63_000;
    assert.equal(await times(gateway, 1, openOrders), '200');
    assert.equal(await times(gateway, 1, openOrders), '429');
  });
});

describe('a refusal that no choice would have prevented', () => {
  for (const [what, limits, target, before, verdict] of [
    ['less was sent than any choice allows', 'interface', snapshots, 10, 'not_ours'],
    ['the tightest is kept', 'published-sandbox', snapshots, 20, 'none_tighter'],
    ['no choice has smaller figures for the operation', 'published', openOrders, 0, 'none_tighter'],
  ] as const)
    test(`${what}: a pause alone`, async () => {
      const { world, reports, instance, times, refuse } = createWorld({ limits });
      const gateway = instance();
      await times(gateway, before, target);
      await refuse(gateway, target);
      assert.deepEqual(said(reports), [`${verdict} ${limits}`]);
      assert.equal(await times(gateway, 1, target), '429');
      world.now += 63_000;
      assert.equal(await times(gateway, 1, target), '200');
    });

  test('an operation that no choice counts is refused, and nothing changes', async () => {
    const { reports, instance, refuse } = createWorld();
    const gateway = instance();
    assert.equal(await refuse(gateway, previewOrder.path, orderBody()), '503 upstream_rate_limited');
    assert.deepEqual(said(reports), ['none_tighter interface']);
  });
});

describe('under a choice that counts each endpoint, a refusal', () => {
  const [bars, snapshotsOf, ticks] = [
    `${getStockBars.path}?symbol=AAPL&category=US_STOCK&timespan=M1`,
    snapshots,
    `${listStockTicks.path}?symbol=AAPL&category=US_STOCK&count=1`,
  ];

  test('of one endpoint, again and again, costs callers of others no read', async () => {
    const { world, instance, times, refuse } = createWorld({ limits: 'published' });
    const instances = [instance(), instance(), instance()];
    const answers: string[] = [];
    for (let minute = 0; minute < 10; minute++) {
      await refuse(instances[minute % 3]!, bars);
      for (let read = 0; read < 30; read++) {
        answers.push(await times(instances[read % 3]!, 1, snapshotsOf));
        world.now += 2100;
      }
    }
    assert.deepEqual(
      answers.filter((status) => status !== '200'),
      [],
    );
  });

  test('of that endpoint pauses it for all instances, and one of another endpoint meanwhile pauses all', async () => {
    const { world, instance, times, refuse } = createWorld({ limits: 'published' });
    // The instance of another function does not know the endpoint that is refused first.
    const [one, another, ofOthers] = [instance(), instance(), instance([getStockSnapshots, listStockTicks])];
    await refuse(one, bars);
    world.now += 3000;
    assert.equal(await times(another, 1, bars), '429');
    assert.equal(await times(another, 1, ticks), '200');
    assert.equal(await refuse(ofOthers, snapshotsOf), '503 upstream_rate_limited');
    const before = world.sent;
    for (const gateway of [one, another, instance()])
      for (const target of [bars, ticks, snapshotsOf])
        assert.equal(await times(gateway, 1, target), '429', target);
    assert.equal(await times(ofOthers, 1, ticks), '429');
    assert.equal(world.sent, before);
    world.now += 63_000;
    for (const target of [bars, ticks, snapshotsOf])
      assert.equal(await times(another, 1, target), '200', target);
  });

  test('of everything that the upstream gets costs two requests in each window, however many endpoints are in use', async () => {
    const { world, instance, times } = createWorld({ limits: 'published' });
    const gateways = [instance(), instance()];
    world.refuses = true;
    for (let window = 1; window <= 5; window++) {
      for (let second = 0; second < 60; second++) {
        for (const target of [bars, ticks, snapshotsOf]) await times(gateways[second % 2]!, 1, target);
        world.now += 1000;
      }
      assert.ok(world.sent <= 2 * window, `${world.sent} in ${window}`);
      world.now += 4000;
    }
  });
});

test('when an operator ends it, all instances keep the configured limits within half a minute', async () => {
  const { world, instance, times, refuse, store, key } = createWorld();
  const gateway = instance();
  await times(gateway, 70);
  await refuse(gateway, snapshots);
  world.now += 63_000;
  const item = await store.read(key);
  await store.replace(key, item, { ...item!, revision: 'ended', text: '{}' }, 0);
  world.now += 30_000;
  const before = world.sent;
  await times(gateway, 100);
  assert.equal(world.sent - before, 100);
});

describe('when an operator ends it while another instance still keeps it, and the wider choice sends too much again', () => {
  /** What the instance that does not know yet has sent alone would fit its choice, and would not fit the next. */
  async function mixed() {
    const created = createWorld();
    const { world, reports, instance, times, refuse, store, key } = created;
    const [one, other] = [instance(), instance()];
    await times(one, 70);
    await refuse(one, snapshots);
    world.now += 83_000;
    await times(other, 35);
    const item = await store.read(key);
    await store.replace(key, item, { ...item!, revision: 'ended', text: '{}' }, 0);
    world.now += 10_000;
    assert.equal(await times(one, 40), '200');
    reports.length = 0;
    return { ...created, one, other };
  }

  test('a refusal of the instance that still keeps it leads back to it, and not past it', async () => {
    const { world, reports, refuse, instance, times, other } = await mixed();
    await refuse(other, snapshots);
    assert.deepEqual(said(reports), ['tightened published']);
    // All keep it again, the one that was configured otherwise, too.
    world.now += 150_000;
    const before = world.sent;
    await times(instance(), 100);
    assert.ok(world.sent - before > 30 && world.sent - before <= 60, `${world.sent - before}`);
  });

  test('a refusal of both leads back to it, too', async () => {
    const { world, reports, refuse, one, other } = await mixed();
    const before = world.sent;
    world.answersAfter = () => until(() => reports.length > 0);
    const late = refuse(other, snapshots);
    await until(() => world.sent > before);
    world.answersAfter = async () => {};
    await Promise.all([refuse(one, snapshots), late]);
    assert.deepEqual(said(reports), ['tightened published', 'tightened published']);
  });
});

test('while the store is away, what counts against no limit goes on, and the instance keeps what it has learnt', async () => {
  const { world, reports, instance, times, refuse } = createWorld();
  const gateway = instance();
  world.isAway = true;
  assert.equal(await times(gateway, 3, listAccounts.path), '200');
  await refuse(gateway, listAccounts.path);
  assert.deepEqual(said(reports), ['tightened published']);
  assert.equal(await times(gateway, 1, listAccounts.path), '429');
  world.isAway = false;
  world.now += 63_000;
  assert.equal(await times(gateway, 1, listAccounts.path), '200');
  const other = instance();
  await times(other, 1, listAccounts.path);
  world.now += 30_000;
  const before = world.sent;
  await times(other, 10, listAccounts.path);
  assert.ok(world.sent - before <= 6, `${world.sent - before}`);
});
