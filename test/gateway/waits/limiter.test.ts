/** The gateway and its limiter: a real one over a memory store, in front of the simulated upstream. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { createNodeSend } from '../../../functions/aws/node-send.ts';
import type { SimulatorOptions } from '../../../infra/simulator/index.ts';
import {
  createLimiter,
  createMemoryLimiterStore,
  type GatewayOptions,
  type LimiterReport,
  limiterLimits,
  type OperationLimits,
  type SecretVersion,
  StoreThrottled,
} from '../../../lib/gateway/index.ts';
import { type After, afterTimeout, type LimiterOptions } from '../../../lib/limiter/index.ts';
import {
  accountsPath,
  ask,
  coreFor,
  credentials,
  gatewayOf,
  orderBody,
  orderPath,
  problemOf,
  type Reply,
  requestOf,
  secretText,
  snapshotTarget,
} from '../../support/core.ts';
import { each } from '../../support/each.ts';

interface Setting {
  /** Requests that the limiter permits in a minute, or in `perSeconds`. */
  readonly requests?: number;
  readonly perSeconds?: number;
  readonly operationLimits?: OperationLimits;
  readonly limiterOptions?: Partial<LimiterOptions>;
  readonly onReport?: (report: LimiterReport) => void;
  readonly simulated?: Partial<SimulatorOptions>;
  readonly options?: Partial<GatewayOptions>;
}

/** Without margins, so that small figures are what they say. */
const exact = { clockOffsetMs: 0, networkMs: 0, heldBack: 0 };

async function limitedFor(t: TestContext, setting: Setting = {}) {
  const { requests = 300, perSeconds = 60, operationLimits = {} } = setting;
  const said: LimiterReport[] = [];
  const store = createMemoryLimiterStore();
  const newLimiter = () =>
    createLimiter({
      store,
      limits: { ...limiterLimits(operationLimits), 'market-data': { requests, perSeconds } },
      bucket: 'test',
      margins: exact,
      report: (report) => {
        said.push(report);
        setting.onReport?.(report);
      },
      ...setting.limiterOptions,
    });
  const limiter = newLimiter();
  const core = await coreFor(t, setting.simulated, {
    limiter,
    operationLimits: operationLimits,
    ...setting.options,
  });
  const kinds = (kind: LimiterReport['kind']) => said.filter((report) => report.kind === kind);
  return { ...core, store, limiter, newLimiter, said, kinds };
}

/** A clock at which no permit expires, however busy the machine is. */
const standing = (at = Date.now()) => ({ clock: () => at });

function refusedBy(reply: Reply) {
  const problem = problemOf(reply);
  assert.deepEqual(
    [problem.status, problem.code, problem.error_code, problem.title],
    [429, 'budget_used_up', 'TOO_MANY_REQUESTS', 'Too Many Requests'],
  );
  assert.match(problem.detail, /all clients share.*nothing is wrong with this key/);
  const retryAfter = reply.headers['retry-after'] ?? '';
  assert.match(retryAfter, /^[1-9]\d*$/);
  return { ...problem, retryAfter: Number(retryAfter) };
}

describe('a permit for each attempt', () => {
  test('one for a read that is answered', async (t) => {
    const { gateway, reports, kinds } = await limitedFor(t, { limiterOptions: standing() });
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    assert.equal(kinds('granted').length, 1);
    assert.equal(reports[0]?.attempts, 1);
    assert.equal(typeof reports[0]?.waitedMs, 'number');
  });

  test('another for the read that is signed anew after a refused signature', async (t) => {
    const secrets = {
      read: async (version?: SecretVersion) =>
        version === 'previous' ? secretText() : secretText({ ...credentials, appSecret: 'wrong' }),
    };
    const { gateway, reports, kinds, simulator } = await limitedFor(t, { options: { secrets } });
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    assert.equal(reports[0]?.attempts, 2);
    assert.equal(simulator.received.length, 2);
    // On a busy machine one may have expired before it was used.
    assert.equal(kinds('granted').length - kinds('expired').length, 2);
  });

  test('another for the read whose connection was dead', async (t) => {
    const { gateway, reports, kinds } = await limitedFor(t, {
      simulated: { fault: ({ attempt }) => (attempt === 2 ? { kind: 'drop' } : undefined) },
      options: { send: createNodeSend() },
    });
    for (let round = 0; round < 2; round++) {
      assert.equal((await ask(gateway, snapshotTarget)).status, 200);
      // The agent takes the connection back a moment after the answer's last byte.
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(each(reports, 'attempts'), [1, 2]);
    assert.equal(kinds('granted').length - kinds('expired').length, 3);
  });

  test('none for what is refused before, nor for what counts against no limit', async (t) => {
    const { gateway, reports, said } = await limitedFor(t, { requests: 1 });
    await ask(gateway, '/unknown');
    await ask(gateway, `${snapshotTarget}&wrong=1`);
    for (let round = 0; round < 3; round++) {
      assert.equal((await ask(gateway, accountsPath)).status, 200);
      assert.equal((await ask(gateway, orderPath, { body: orderBody() })).status, 200);
    }
    assert.deepEqual(said, []);
    assert.ok(reports.every(({ waitedMs }) => waitedMs === undefined));
  });

  test('of the priority that the platform gives the request', async (t) => {
    const { gateway, kinds } = await limitedFor(t);
    for (const priority of [undefined, 'background'] as const)
      await gateway.handle({ ...requestOf(snapshotTarget), ...(priority && { priority }) });
    assert.deepEqual(
      kinds('granted').map((report) => 'priority' in report && report.priority),
      ['interactive', 'background'],
    );
  });

  test('together never more than the limit, whatever is asked for at once', async (t) => {
    // Time stands still, so that no permit runs out before its request has left.
    const now = Date.now();
    const clock = () => now;
    const { gateway, simulator } = await limitedFor(t, {
      requests: 20,
      limiterOptions: { clock },
      options: { clock },
      simulated: { clock, limits: { 'market-data': { requests: 20, perSeconds: 60 } } },
    });
    const replies = await Promise.all(Array.from({ length: 100 }, () => ask(gateway, snapshotTarget)));
    const served = replies.filter(({ status }) => status === 200).length;
    assert.ok(served > 0 && served <= 20, String(served));
    assert.deepEqual(simulator.counts, { ok: served });
    for (const reply of replies) if (reply.status !== 200) refusedBy(reply);
  });
});

describe('without the store of the limiter', () => {
  const failing = (error: Error) => {
    const reject = () => Promise.reject(error);
    return { read: reject, add: reject, replace: reject };
  };

  for (const [what, error, detail] of [
    ['is away', new Error('made up'), /cannot see how much .* sends nothing beyond what is set aside/],
    ['throttles', new StoreThrottled(), /More requests come at once .* sends none that it has not counted/],
  ] as const)
    test(`that ${what}: 429 that says so, and nothing is sent`, async (t) => {
      const { gateway, simulator, kinds } = await limitedFor(t, {
        limiterOptions: { store: failing(error) },
      });
      const replies = await Promise.all(Array.from({ length: 10 }, () => ask(gateway, snapshotTarget)));
      for (const reply of replies) {
        const refusal = refusedBy(reply);
        assert.match(refusal.detail, detail);
        assert.match(refusal.detail, /The request was not sent; it had no effect\.$/);
      }
      assert.deepEqual(simulator.counts, {});
      assert.ok(kinds('store_unavailable').length + kinds('store_busy').length > 0);
      assert.equal((await ask(gateway, accountsPath)).status, 200);
    });
});

describe('without a permit in time', () => {
  test('429 with an honest Retry-After; nothing was sent, and that is said', async (t) => {
    let now = Date.now();
    const clock = () => now;
    const { gateway, reports, simulator } = await limitedFor(t, {
      requests: 1,
      limiterOptions: { clock },
      options: { clock },
      simulated: { clock },
    });
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    const { retryAfter, detail } = refusedBy(await ask(gateway, snapshotTarget));
    assert.ok(retryAfter >= 57 && retryAfter <= 62, `${retryAfter}`);
    assert.match(detail, /The request was not sent; it had no effect\.$/);
    assert.equal(simulator.received.length, 1);
    assert.deepEqual([reports[1]?.attempts, reports[1]?.code], [0, 'budget_used_up']);
    now += (retryAfter - 5) * 1000;
    refusedBy(await ask(gateway, snapshotTarget));
    now += 8000;
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
  });

  test('a read waits a while, and is answered', async (t) => {
    // Time passes only while the limiter waits: on a busy machine the window would be over before the third read.
    let now = Date.now();
    const clock = () => now;
    const storeTimeoutMs = 500;
    // Neither for the store's answer nor for the end of a permit's life.
    const permitEndMs = 251;
    const after: After = (ms, run) => {
      if (ms === storeTimeoutMs || ms === permitEndMs) return () => {};
      now += ms;
      return afterTimeout(0, run);
    };
    const { gateway, reports } = await limitedFor(t, {
      requests: 2,
      perSeconds: 1,
      limiterOptions: { clock, after },
      options: { clock },
      simulated: { clock },
    });
    for (let round = 0; round < 3; round++) assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    assert.ok((reports[2]?.waitedMs ?? 0) > 500, `${reports[2]?.waitedMs}`);
  });

  test('it does not wait when that would leave no time for the attempt', async (t) => {
    // The clock stands still: a request that waits would wait for ever.
    const now = Date.now();
    const clock = () => now;
    const { gateway } = await limitedFor(t, {
      requests: 2,
      perSeconds: 1,
      limiterOptions: { clock },
      options: { clock },
      simulated: { clock },
    });
    for (let round = 0; round < 2; round++) await ask(gateway, snapshotTarget);
    const request = { ...requestOf(snapshotTarget), deadline: now + 1500 };
    const { status, body } = await gateway.handle(request);
    assert.deepEqual([status, JSON.parse(Buffer.from(body).toString()).code], [429, 'budget_used_up']);
    const late = await gateway.handle({ ...request, deadline: now + 900 });
    assert.equal(JSON.parse(Buffer.from(late.body).toString()).code, 'gateway_timeout');
  });

  test('the second attempt of a read: 429, and the previous secret is tried next time', async (t) => {
    let now = Date.now();
    const clock = () => now;
    const secrets = {
      read: async (version?: SecretVersion) =>
        version === 'previous' ? secretText() : secretText({ ...credentials, appSecret: 'wrong' }),
    };
    const { gateway, limiter, simulator } = await limitedFor(t, {
      requests: 3,
      limiterOptions: { clock },
      options: { clock, secrets },
      simulated: { clock },
    });
    for (let round = 0; round < 2; round++)
      await limiter.acquire({ appKey: credentials.appKey, limits: ['market-data'] });
    const { detail } = refusedBy(await ask(gateway, snapshotTarget));
    assert.doesNotMatch(detail, /not sent/);
    assert.deepEqual(simulator.counts, { INCORRECT_SIGN: 1 });
    now += 62_000;
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    assert.deepEqual(simulator.counts, { INCORRECT_SIGN: 2, ok: 1 });
  });

  test('an order under a limit of its own is not sent, and its outcome is known', async (t) => {
    const operationLimits = { trading: { requests: 1, perSeconds: 60, for: ['placeOrder'] } };
    const { gateway, simulator } = await limitedFor(t, { operationLimits });
    assert.equal((await ask(gateway, orderPath, { body: orderBody() })).status, 200);
    const refused = refusedBy(await ask(gateway, orderPath, { body: orderBody() }));
    assert.match(refused.detail, /The request was not sent; it had no effect\.$/);
    assert.equal(refused.find_out, undefined);
    assert.equal(simulator.orders.length, 1);
    assert.equal((await ask(gateway, accountsPath)).status, 200);
  });
});

describe('narrower limits', () => {
  test('an operation draws from its own and from the wide one', async (t) => {
    const operationLimits = {
      snapshots: { requests: 2, perSeconds: 60, for: ['getStockSnapshots'], within: 'market-data' },
    } as const;
    const { gateway } = await limitedFor(t, { operationLimits, limiterOptions: standing() });
    const statuses = [];
    for (let round = 0; round < 3; round++) statuses.push((await ask(gateway, snapshotTarget)).status);
    assert.deepEqual(statuses, [200, 200, 429]);
    const footprint = '/openapi/market-data/stock/footprint?symbols=AAPL&category=US_STOCK&timespan=M5';
    assert.equal((await ask(gateway, footprint)).status, 200, 'others go on');
  });

  test('an older form draws from its current operation’s own limit', async (t) => {
    const operationLimits = {
      sectors: { requests: 2, perSeconds: 60, for: ['listMarketSectors'], within: 'market-data' },
    } as const;
    const { gateway } = await limitedFor(t, { operationLimits, limiterOptions: standing() });
    const statuses = [];
    for (const path of [
      '/market-data/screeners/market-sectors/list',
      '/openapi/market-data/screener/market-sectors',
      '/openapi/market-data/screener/market-sectors',
    ])
      statuses.push((await ask(gateway, `${path}?category=US_STOCK`)).status);
    assert.deepEqual(statuses, [200, 200, 429]);
  });

  test('a gateway refuses limits that do not fit its operations', async (t) => {
    const { simulator } = await coreFor(t);
    for (const [operationLimits, words] of [
      [{ a: { requests: 1, perSeconds: 1, for: ['getStockSnapshots'] } }, /within market-data/],
      [{ a: { requests: 1, perSeconds: 1, for: ['orders'], within: 'market-data' } }, /within none/],
      [
        {
          a: { requests: 1, perSeconds: 1, for: ['orders'] },
          b: { requests: 1, perSeconds: 1, for: ['placeOrder'] },
        },
        /a and b are both for placeOrder/,
      ],
      [{ 'market-data': { requests: 1, perSeconds: 1, for: ['orders'] } }, /the upstream’s own/],
    ] as const)
      assert.throws(
        () =>
          gatewayOf({
            upstreamBaseUrl: simulator.url,
            operationLimits: operationLimits,
          }),
        (error) => error instanceof TypeError && words.test(error.message),
      );
  });
});

describe('the upstream’s own 429', () => {
  test('closes the limit, for other instances too, and opens it again', async (t) => {
    let now = Date.now();
    const clock = () => now;
    const { gateway, simulator, reports, kinds, newLimiter } = await limitedFor(t, {
      simulated: { limits: { 'market-data': { requests: 1, perSeconds: 5 } }, clock },
      limiterOptions: { clock },
      options: { clock },
    });
    const other = gatewayOf({
      upstreamBaseUrl: simulator.url,
      clock,
      limiter: newLimiter(),
    });
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    assert.equal(problemOf(await ask(gateway, snapshotTarget)).code, 'upstream_rate_limited');
    assert.deepEqual([reports[1]?.upstreamStatus, kinds('blocked').length], [429, 1]);
    for (const one of [gateway, other]) {
      const { detail, retryAfter } = refusedBy(await ask(one, snapshotTarget));
      assert.match(detail, /has just refused/);
      assert.ok(retryAfter >= 9 && retryAfter <= 12, `${retryAfter}`);
    }
    assert.equal(simulator.received.length, 2);
    now += 12_000;
    assert.equal((await ask(other, snapshotTarget)).status, 200);
  });

  test('closes it for as long as the upstream says', async (t) => {
    const asked = Date.now();
    const clock = () => asked;
    const { gateway, kinds } = await limitedFor(t, {
      simulated: { clock, fault: () => ({ kind: 'status', status: 429, headers: { 'retry-after': '40' } }) },
      limiterOptions: { clock },
      options: { clock },
    });
    await ask(gateway, snapshotTarget);
    const [closed] = kinds('blocked');
    assert.ok(closed?.kind === 'blocked' && closed.until >= asked + 40_000 && closed.until < asked + 45_000);
    assert.ok(refusedBy(await ask(gateway, snapshotTarget)).retryAfter >= 38);
  });

  test('closes the limit of orders although the status leaves it open whether the order was placed', async (t) => {
    const operationLimits = { trading: { requests: 9, perSeconds: 60, for: ['orders'] } } as const;
    const body = { error_code: 'OPENAPI_TOO_MANY_REQUESTS', message: 'no' };
    const { gateway, simulator } = await limitedFor(t, {
      operationLimits,
      simulated: { fault: () => ({ kind: 'status', status: 503, body }) },
    });
    const order = { body: orderBody() };
    assert.equal(problemOf(await ask(gateway, orderPath, order)).code, 'outcome_unknown');
    assert.match(refusedBy(await ask(gateway, orderPath, order)).detail, /has just refused/);
    assert.equal(simulator.received.length, 1);
  });
});

describe('a permit that expires', () => {
  for (const [what, jumps, given, status] of [
    ['while the connection is made is replaced', 1, 2, 200],
    ['twice is replaced twice', 2, 3, 200],
    ['three times over is given up, and nothing is sent', 3, 3, 429],
  ] as const)
    test(what, async (t) => {
      let now = Date.now();
      let left: number = jumps;
      const { gateway, simulator, kinds } = await limitedFor(t, {
        limiterOptions: { clock: () => now },
        // As if the machine stood still for a second between the grant of a permit and its use.
        onReport: ({ kind }) => {
          if (kind === 'granted' && left-- > 0) now += 1000;
        },
        options: { send: createNodeSend() },
      });
      const reply = await ask(gateway, snapshotTarget);
      assert.equal(reply.status, status);
      if (status === 429) refusedBy(reply);
      assert.equal(simulator.received.length, status === 200 ? 1 : 0);
      assert.equal(kinds('expired').length, jumps);
      assert.equal(kinds('granted').length, given);
    });
});

test('the app key is in no key of the store, no report and no answer', async (t) => {
  const written: unknown[] = [];
  const { read, add, replace } = createMemoryLimiterStore();
  const noting =
    <A extends unknown[], R>(operation: (...args: A) => R) =>
    (...args: A) => {
      written.push(args);
      return operation(...args);
    };
  const { gateway, reports, said } = await limitedFor(t, {
    requests: 1,
    limiterOptions: { store: { read: noting(read), add: noting(add), replace: noting(replace) } },
  });
  const replies = [await ask(gateway, snapshotTarget), await ask(gateway, snapshotTarget)];
  assert.ok(written.length > 0);
  for (const text of [written, reports, said, replies.map(({ text, headers }) => [text, headers])])
    assert.ok(!JSON.stringify(text).includes(credentials.appKey));
});
