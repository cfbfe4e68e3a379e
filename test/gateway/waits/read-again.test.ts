/** What the gateway sends again by itself, and when it stops asking: in front of a simulated upstream with faults. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { ApiFault, ChooseFault } from '../../../infra/simulator/index.ts';
import { loseFirstAnswers } from '../../../infra/simulator/index.ts';
import { getAccountBalance, operations, placeOrder } from '../../../lib/catalogue/index.ts';
import {
  type Attempt,
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  type Gateway,
  type GatewayOptions,
  type LimiterReport,
  limiterLimits,
  type RefreshReport,
} from '../../../lib/gateway/index.ts';
import { callOf } from '../../support/calls.ts';
import {
  accountId,
  accountsPath,
  ask,
  coreFor,
  orderBody,
  problemOf,
  requestOf,
  snapshotTarget,
} from '../../support/core.ts';
import { senders } from '../../support/senders.ts';
import { until } from '../../support/until.ts';
import { useCalmTime } from '../../world/test-time.ts';

useCalmTime();

const status = (code: number, more: Partial<Extract<ApiFault, { kind: 'status' }>> = {}): ApiFault => ({
  kind: 'status',
  status: code,
  ...more,
});
const balancePath = `${getAccountBalance.path}?account_id=${accountId}`;
/** Without pauses between attempts. */
const atOnce = { random: () => 0 };
/** The nth attempt gets the nth fault, and all that follow none. */
const first =
  (...faults: readonly ApiFault[]): ChooseFault =>
  ({ attempt }) =>
    faults[attempt - 1];

for (const [sender, createSend] of senders)
  describe(`a read over ${sender}`, { concurrent: true }, () => {
    for (const fault of [
      status(503),
      status(500),
      status(500, { body: { error_code: 'SYSTEM_ERROR', message: 'busy' } }),
      { kind: 'drop' },
      { kind: 'drop-after' },
      { kind: 'truncate' },
      { kind: 'hang' },
    ] satisfies ApiFault[])
      test(`is sent again after ${JSON.stringify(fault)}, with a signature of its own`, async (t) => {
        const { gateway, simulator, reports } = await coreFor(
          t,
          { fault: first(fault) },
          { ...atOnce, send: createSend(), ...(fault.kind === 'hang' && { upstreamTimeoutMs: 3000 }) },
        );
        assert.equal((await ask(gateway, accountsPath)).status, 200);
        assert.equal(reports[0]?.attempts, 2);
        assert.equal(new Set(simulator.received.map(({ headers }) => headers['x-signature-nonce'])).size, 2);
        assert.equal(simulator.received.at(-1)?.outcome, 'ok');
      });

    for (const fault of [
      status(429),
      status(417, { body: { error_code: 'SYSTEM_ERROR', message: 'no' } }),
      status(400),
      status(404),
      status(500, { body: { error_code: 'ACCOUNT_ACCESS_DENIED', message: 'no' } }),
      // The upstream names the time itself.
      status(503, { headers: { 'retry-after': '2' } }),
      { kind: 'not-json' },
    ] satisfies ApiFault[])
      test(`is not sent again after ${JSON.stringify(fault)}`, async (t) => {
        const { gateway, simulator } = await coreFor(
          t,
          { fault: () => fault },
          { ...atOnce, send: createSend() },
        );
        assert.ok((await ask(gateway, accountsPath)).status >= 400);
        assert.equal(simulator.received.length, 1);
      });
  });

describe('a read that fails', () => {
  test('is sent three times at most, and the last failure is the answer', async (t) => {
    const { gateway, simulator, reports } = await coreFor(
      t,
      { fault: first(status(503), { kind: 'drop' }, status(504)) },
      atOnce,
    );
    const problem = problemOf(await ask(gateway, accountsPath));
    assert.deepEqual([problem.code, problem.upstream_status], ['upstream_error', 504]);
    assert.equal(simulator.received.length, 3);
    assert.deepEqual([reports[0]?.attempts, reports[0]?.upstreamStatus], [3, 504]);
  });

  test('because nothing listens is tried again', async (t) => {
    const { sent, options } = scripted({ kind: 'unreachable' }, { kind: 'unreachable' });
    const { gateway } = await coreFor(t, {}, { ...atOnce, ...options });
    assert.equal((await ask(gateway, accountsPath)).status, 200);
    assert.equal(sent.length, 3);
  });

  test('is not sent while the host is known to be away, and says the cause of the attempts before it', async (t) => {
    for (const cause of ['host_unknown', undefined] as const) {
      const unreachable: Attempt = { kind: 'unreachable', ...(cause && { cause }) };
      const { sent, options } = scripted(...Array<Attempt>(100).fill(unreachable));
      const { gateway } = await coreFor(t, {}, { ...atOnce, ...options });
      for (let asked = 0; asked < 10; asked++) await ask(gateway, accountsPath);
      const before = sent.length;
      const problem = problemOf(await ask(gateway, accountsPath));
      assert.equal(sent.length, before);
      assert.deepEqual([problem.code, problem.cause], ['upstream_unreachable', cause]);
    }
  });

  for (const priority of ['events', 'background'] as const)
    test(`is its caller's to repeat at the priority ${priority}`, async (t) => {
      const { gateway, simulator } = await coreFor(t, { fault: () => status(503) }, atOnce);
      await gateway.handle({ ...requestOf(accountsPath), priority });
      assert.equal(simulator.received.length, 1);
    });

  test('waits before each attempt for a time by chance, the second time up to twice as long', async (t) => {
    for (const chance of [0.25, 0.5, 0.999]) {
      const { sent, options } = scripted(...Array<Attempt>(3).fill({ kind: 'lost' }));
      const { gateway } = await coreFor(t, {}, { ...options, random: () => chance });
      const expected = [chance * 200, chance * 400];
      /** How many attempts were sent before each pause; what else has timers has others. */
      const pauses: (readonly [number, number])[] = [];
      const { setTimeout: platforms } = globalThis;
      globalThis.setTimeout = ((run: () => void, ms = 0) => {
        if (!expected.includes(ms)) return platforms(run, ms);
        pauses.push([ms, sent.length]);
        return platforms(run, 0);
      }) as typeof setTimeout;
      // No spy: another file's restoreAllMocks would bring this file's timers back.
      await ask(gateway, accountsPath).finally(() => {
        globalThis.setTimeout = platforms;
      });
      assert.equal(sent.length, 3);
      assert.deepEqual(
        pauses,
        expected.map((ms, index) => [ms, index + 1]),
      );
    }
  });

  test('is not sent again when there is no time for its answer', async (t) => {
    const now = Date.UTC(2026, 10, 17, 9, 30);
    for (const [timeLeft, random, attempts] of [
      [1000, 0, 3],
      [1100, 0.6, 1],
      [1200, 0.6, 2],
      [1300, 0.6, 3],
    ] as const) {
      const { sent, options } = scripted(...Array<Attempt>(3).fill({ kind: 'lost' }));
      const { gateway } = await coreFor(t, {}, { ...options, random: () => random, clock: () => now });
      await gateway.handle({ ...requestOf(accountsPath), deadline: now + timeLeft });
      assert.equal(sent.length, attempts, `${timeLeft} ms`);
    }
  });
});

/** Answers with these results, then with an empty list of accounts. */
function scripted(...results: readonly Attempt[]) {
  const sent: string[] = [];
  const send: NonNullable<GatewayOptions['send']> = async ({ url }, { letGo }) => {
    if (letGo && !(await letGo(() => {}))) return { kind: 'not_sent' };
    sent.push(url);
    const body = new TextEncoder().encode('[]');
    return results[sent.length - 1] ?? { kind: 'answer', status: 200, header: () => undefined, body };
  };
  return { sent, options: { send } };
}

describe('each attempt of a read', () => {
  function limited(requests: number) {
    const said: LimiterReport[] = [];
    // No permit expires, however busy the machine is.
    const at = Date.now();
    const limiter = createLimiter({
      clock: () => at,
      store: createMemoryLimiterStore(),
      limits: { ...limiterLimits(), 'market-data': { requests, perSeconds: 60 } },
      bucket: 'test',
      margins: { clockOffsetMs: 0, networkMs: 0, heldBack: 0 },
      report: (report) => said.push(report),
    });
    return { limiter, granted: () => said.filter(({ kind }) => kind === 'granted').length };
  }

  test('has a permit of its own', async (t) => {
    const { limiter, granted } = limited(300);
    const { gateway, reports } = await coreFor(
      t,
      { fault: first(status(503), status(503)) },
      { ...atOnce, limiter },
    );
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    assert.equal(reports[0]?.attempts, 3);
    assert.equal(granted(), 3);
  });

  test('is not made without one: the failure before is the answer, not the limit', async (t) => {
    const { limiter } = limited(2);
    const { gateway, simulator, reports } = await coreFor(
      t,
      { fault: () => status(503) },
      { ...atOnce, limiter },
    );
    const problem = problemOf(await ask(gateway, snapshotTarget));
    assert.deepEqual([problem.code, problem.upstream_status], ['upstream_error', 503]);
    assert.equal(simulator.received.length, 2);
    assert.equal(reports[0]?.attempts, 2);
  });
});

describe('a request with a side effect is sent once', { concurrent: true }, () => {
  const changes = operations.filter(({ sideEffect }) => sideEffect);
  const failures: readonly (readonly [string, Attempt])[] = [
    ['unreachable', { kind: 'unreachable' }],
    ['dropped', { kind: 'dropped' }],
    ['lost', { kind: 'lost' }],
    ['timeout', { kind: 'timeout' }],
    ...[500, 502, 503, 504].map((code): [string, Attempt] => [
      `${code}`,
      { kind: 'answer', status: code, header: () => undefined, body: new Uint8Array() },
    ]),
  ];
  for (const { id, path } of changes)
    test(`${id}, under each failure`, async (t) => {
      for (const [name, failure] of failures) {
        const { sent, options } = scripted(failure);
        const { gateway } = await coreFor(t, {}, { ...atOnce, ...options });
        const { search, body } = await callOf(id, async () => ({ watchlist_id: '1' }));
        const reply = await ask(gateway, path + search, body === undefined ? {} : { body });
        assert.equal(
          problemOf(reply).code,
          name === 'unreachable' ? 'upstream_unreachable' : 'outcome_unknown',
        );
        assert.equal(sent.length, 1, name);
      }
    });

  test('an order that something delivers twice is placed once, and its outcome is unknown', async (t) => {
    const { gateway, simulator, reports } = await coreFor(t, { fault: () => ({ kind: 'repeat' }) }, atOnce);
    assert.equal(
      problemOf(await ask(gateway, placeOrder.path, { body: orderBody() })).code,
      'outcome_unknown',
    );
    assert.equal(simulator.orders.length, 1);
    assert.equal(reports[0]?.attempts, 1);
  });

  test('orders whose first answer is lost are placed once each', async (t) => {
    const { gateway, simulator } = await coreFor(t, { fault: loseFirstAnswers() }, atOnce);
    for (let order = 1; order <= 3; order++) {
      const body = orderBody();
      for (let time = 0; time < 2; time++)
        assert.equal(problemOf(await ask(gateway, placeOrder.path, { body })).code, 'outcome_unknown');
      assert.equal(simulator.orders.length, order);
    }
  });
});

describe('while the upstream is down', () => {
  /** A gateway on a clock that the test moves; `down` is what every request meets. */
  async function outageFor(t: TestContext, options: Partial<GatewayOptions> = {}) {
    let fault: ChooseFault | undefined;
    let now = Date.now();
    const clock = () => now;
    const core = await coreFor(
      t,
      { clock, fault: (request) => fault?.(request) },
      { random: () => 0, clock, ...options },
    );
    return {
      ...core,
      bring: (next?: ChooseFault) => {
        fault = next;
      },
      skip: (ms: number) => {
        now += ms;
      },
    };
  }
  const askAll = async (gateway: Gateway, target: string, times: number) => {
    for (let time = 0; time < times; time++) await ask(gateway, target);
  };

  for (const [name, fault, code] of [
    ['503', status(503), 'upstream_error'],
    ['drop', { kind: 'drop' }, 'upstream_broken_answer'],
  ] as const)
    test(`${name}: reads stop after five failures, say so as the failure, and go on when it is over`, async (t) => {
      const { gateway, simulator, reports, bring, skip } = await outageFor(t);
      bring(() => fault);
      await askAll(gateway, accountsPath, 50);
      assert.equal(simulator.received.length, 5);
      const reply = await ask(gateway, accountsPath);
      const problem = problemOf(reply);
      assert.equal(problem.code, code);
      assert.match(problem.detail, /failed several times in a row.*was not sent/);
      assert.equal(problem.upstream_status, undefined);
      assert.match(reply.headers['retry-after'] ?? '', /^[12]$/);
      assert.equal(reports.at(-1)?.attempts, 0);
      // One finds out, and the pause is longer then.
      skip(2000);
      await askAll(gateway, accountsPath, 10);
      assert.equal(simulator.received.length, 6);
      bring();
      skip(4000);
      for (let time = 0; time < 10; time++) assert.equal((await ask(gateway, accountsPath)).status, 200);
      assert.equal(simulator.received.length, 16);
    });

  test('in one endpoint, the others are asked', async (t) => {
    const { gateway, simulator, bring } = await outageFor(t);
    bring(({ path }) => (path === accountsPath ? status(503) : undefined));
    await askAll(gateway, accountsPath, 10);
    for (let time = 0; time < 10; time++) {
      assert.equal((await ask(gateway, balancePath)).status, 200);
      await ask(gateway, accountsPath);
    }
    assert.equal(simulator.received.filter(({ target }) => target === accountsPath).length, 5);
  });

  test('in all endpoints, the first that are asked stop all others', async (t) => {
    const { gateway, simulator, bring } = await outageFor(t);
    bring(() => status(502));
    await askAll(gateway, accountsPath, 1);
    await askAll(gateway, balancePath, 10);
    assert.equal(problemOf(await ask(gateway, snapshotTarget)).code, 'upstream_error');
    assert.equal(simulator.received.length, 5);
  });

  test('with an error code of its own, it is not away: reads go on', async (t) => {
    const { gateway, simulator, bring } = await outageFor(t);
    bring(() => status(503, { body: { error_code: 'SERVICE_NOT_AVAILABLE', message: 'busy' } }));
    await askAll(gateway, accountsPath, 10);
    assert.equal(simulator.received.length, 30);
  });

  test('orders and cancels are sent all the same, and one that is answered opens the way for reads', async (t) => {
    const { gateway, simulator, bring } = await outageFor(t);
    bring(isDown);
    await askAll(gateway, accountsPath, 1);
    await askAll(gateway, balancePath, 10);
    const before = simulator.received.length;
    for (let order = 0; order < 3; order++)
      assert.equal(
        problemOf(await ask(gateway, placeOrder.path, { body: orderBody() })).code,
        'outcome_unknown',
      );
    assert.equal(simulator.received.length, before + 3);
    // A read is told of the upstream, and not of an order.
    assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_error');
    bring((request) => (request.method === 'GET' ? status(503) : undefined));
    assert.equal((await ask(gateway, placeOrder.path, { body: orderBody() })).status, 200);
    await ask(gateway, accountsPath);
    assert.equal(simulator.received.length, before + 3 + 1 + 3);
  });

  test('failed orders alone stop reads as the failure that reads would meet', async (t) => {
    const { gateway, simulator, bring } = await outageFor(t);
    bring(isDown);
    for (let order = 0; order < 4; order++) await ask(gateway, placeOrder.path, { body: orderBody() });
    await ask(gateway, accountsPath);
    problemOf(await ask(gateway, balancePath), { code: 'upstream_error', find_out: undefined });
    assert.equal(simulator.received.length, 5);
  });

  test('a probe that gets no permit leaves the next read to find out', async (t) => {
    const { gateway, bring, skip } = await outageFor(t);
    bring(() => status(503));
    await askAll(gateway, accountsPath, 3);
    bring();
    skip(2000);
    const late = await gateway.handle({ ...requestOf(accountsPath), deadline: 0 });
    assert.equal(JSON.parse(new TextDecoder().decode(late.body)).code, 'gateway_timeout');
    assert.equal((await ask(gateway, accountsPath)).status, 200);
  });

  const isDown: ChooseFault = () => status(503);

  test('old answers of the cache are served, and instances send few attempts', async (t) => {
    const cache = createMemoryCacheStores();
    const { gateway, simulator, bring, skip } = await outageFor(t, { cache });
    assert.equal((await ask(gateway, accountsPath)).status, 200);
    skip(61_000);
    bring(isDown);
    const before = simulator.received.length;
    for (let time = 0; time < 30; time++) {
      assert.equal((await ask(gateway, accountsPath)).status, 200);
      skip(100);
    }
    // Five to open, and one probe for each pause of a second at least.
    const sent = simulator.received.length - before;
    assert.ok(sent >= 3 && sent <= 8, `${sent} attempts`);
  });

  test('a refresh of shared snapshots is sent once: the cache comes again by itself', async (t) => {
    const turns: RefreshReport[] = [];
    const { gateway, simulator, bring, skip } = await outageFor(t, {
      cache: createMemoryCacheStores(),
      reportRefresh: (turn) => turns.push(turn),
    });
    bring(isDown);
    void ask(gateway, snapshotTarget);
    await until(() => {
      skip(10);
      return turns.length >= 2;
    });
    // With the one that may be under way.
    assert.ok(simulator.received.length <= turns.length + 1, `${simulator.received.length} attempts`);
  });
});

test('a read that instances share is not sent again when others take it for lost', async (t) => {
  const { gateway, simulator } = await coreFor(
    t,
    { fault: () => ({ kind: 'hang' }) },
    { ...atOnce, cache: createMemoryCacheStores(), upstreamTimeoutMs: 1500 },
  );
  assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_timeout');
  assert.equal(simulator.received.length, 1);
});
