/** Cached reads through the gateway, in front of the simulated upstream; limiter and stores are in memory. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test, vi } from 'vitest';
import type { SimulatorOptions } from '../../../infra/simulator/index.ts';
import { previewOrder } from '../../../lib/catalogue/index.ts';
import {
  type CacheTuning,
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  type GatewayOptions,
  type Limiter,
  limiterLimits,
  type RefreshReport,
  type RequestReport,
} from '../../../lib/gateway/index.ts';
import { callOf } from '../../support/calls.ts';
import {
  accountsPath,
  ask,
  coreFor,
  credentials,
  gatewayOf,
  orderBody,
  orderPath,
  problemOf,
  requestOf,
  snapshotPath,
} from '../../support/core.ts';
import { useCalmTime } from '../../world/test-time.ts';

useCalmTime();

const snapshots = (symbols: string, more = '') =>
  `${snapshotPath}?symbols=${symbols}&category=US_STOCK${more}`;
const profile = '/market-data/fundamentals/company-profiles/get?symbol=AAPL&category=US_STOCK';
const topActive = '/market-data/screeners/top-actives/list?category=US_STOCK';
const depth = '/openapi/market-data/stock/quotes?symbol=AAPL&category=US_STOCK';

async function sharedFor(
  t: TestContext,
  { tuning, ...simulated }: Partial<SimulatorOptions> & { readonly tuning?: CacheTuning } = {},
  options: Partial<GatewayOptions> = {},
) {
  const turns: RefreshReport[] = [];
  const limiterStore = createMemoryLimiterStore();
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const newLimiter = () =>
    createLimiter({ store: limiterStore, limits: limiterLimits(), bucket: 'test', clock });
  const cache = {
    ...createMemoryCacheStores(),
    ...(tuning && { tuning }),
  };
  const common = {
    clock,
    cache,
    reportRefresh: (turn: RefreshReport) => turns.push(turn),
    ...options,
  };
  const core = await coreFor(t, { clock, ...simulated }, { limiter: newLimiter(), ...common });
  /** Another instance on the same stores. */
  const another = (report?: (one: RequestReport) => void, own: Partial<GatewayOptions> = {}) =>
    gatewayOf({
      upstreamBaseUrl: core.simulator.url,
      limiter: newLimiter(),
      ...common,
      ...(report && { report }),
      ...own,
    });
  const market = () => core.simulator.received.filter(({ target }) => target.includes('market-data'));
  /** Lets time go by for all of them. */
  const skip = (ms: number) => {
    ahead += ms;
  };
  return { ...core, another, market, turns, skip };
}

const symbolsOf = (text: string) => (JSON.parse(text) as { symbol: string }[]).map(({ symbol }) => symbol);

describe('snapshots', { concurrent: true }, () => {
  test('come with the upstream’s bytes in the order asked, and say how old they are', async (t) => {
    // Prices stand still: a refresh meanwhile brings the same bytes.
    const now = Date.now();
    const { gateway, simulator } = await sharedFor(t, { clock: () => now });
    const first = await ask(gateway, snapshots('MSFT,AAPL'));
    assert.equal(first.status, 200);
    assert.deepEqual(symbolsOf(first.text), ['MSFT', 'AAPL']);
    const { headers } = first;
    assert.match(headers['cache-status'] ?? '', /^countersign; fwd=miss; ttl=\d+$/);
    assert.match(headers.etag ?? '', /^W\/"[^"]+"$/);
    assert.deepEqual(
      [headers['cache-control'], headers['content-type'], headers['x-request-id'], headers['x-poll-after']],
      ['private, no-cache', 'application/json', 'request-1', '1'],
    );
    assert.ok(Number(headers.age) >= 0);
    const record = first.text.slice(first.text.indexOf('{"symbol":"AAPL"'), -1);
    const alone = await ask(gateway, snapshots('AAPL'));
    assert.equal(alone.text, `[${record}]`);
    assert.equal(simulator.received[0]?.target, snapshots('MSFT%2CAAPL'));
  });

  test('of many callers share calls: a hundred requests, few calls', async (t) => {
    const { gateway, another, market } = await sharedFor(t);
    const symbols = ['AAPL', 'MSFT', 'GOOGL', 'AMZN', 'TSLA', 'NVDA'];
    const instances = [gateway, another(), another()];
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        ask(
          instances[index % 3]!,
          snapshots([symbols[index % 6], symbols[(index + 1) % 6], symbols[(index * 5) % 6]].join(',')),
        ),
      ),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.ok(market().length < 15, `${market().length} calls`);
  });

  test('are there for a new instance without a call', async (t) => {
    const { gateway, another, market } = await sharedFor(t);
    await ask(gateway, snapshots('AAPL'));
    const before = market().length;
    const reports: RequestReport[] = [];
    const reply = await ask(
      another((one) => reports.push(one)),
      snapshots('AAPL'),
    );
    assert.equal(reply.status, 200);
    assert.match(reply.headers['cache-status'] ?? '', /^countersign; hit; /);
    assert.equal(reports[0]?.cache, 'hit');
    // A refresh may be due by now; no request waited for it.
    assert.ok(market().length <= before + 1);
  });

  test('of other categories and flags are other records', async (t) => {
    const { gateway, market } = await sharedFor(t);
    const plain = await ask(gateway, snapshots('AAPL'));
    const extended = await ask(gateway, snapshots('AAPL', '&extend_hour_required=true'));
    const off = await ask(gateway, snapshots('AAPL', '&extend_hour_required=false'));
    assert.ok(!plain.text.includes('extend_hour_'));
    assert.ok(extended.text.includes('extend_hour_'));
    assert.ok(!off.text.includes('extend_hour_'));
    assert.ok(market().some(({ target }) => target.includes('extend_hour_required=true')));
  });

  test('that did not change are 304, those that did are 200', async (t) => {
    const { gateway } = await sharedFor(t);
    const first = await ask(gateway, snapshots('AAPL'));
    const headers = { 'if-none-match': first.headers.etag ?? '', 'cache-control': 'only-if-cached' };
    const again = await ask(gateway, snapshots('AAPL'), { headers });
    const isSame = again.headers.etag === first.headers.etag;
    assert.deepEqual([again.status, again.text === ''], isSame ? [304, true] : [200, false]);
    const other = await ask(gateway, snapshots('MSFT'), { headers: { 'if-none-match': 'W/"other"' } });
    assert.equal(other.status, 200);
  });

  test('of a symbol that the upstream does not know: named beside the others, refused alone', async (t) => {
    const { gateway, market } = await sharedFor(t);
    const mixed = await ask(gateway, snapshots('AAPL,ZZZZZZZ,MSFT'));
    assert.equal(mixed.status, 200);
    assert.deepEqual(symbolsOf(mixed.text), ['AAPL', 'MSFT']);
    assert.equal(mixed.headers['x-unknown-symbols'], 'ZZZZZZZ');
    const calls = market().length;
    const alone = await ask(gateway, snapshots('ZZZZZZZ'));
    const problem = problemOf(alone);
    assert.deepEqual([problem.status, problem.code], [422, 'upstream_rejected']);
    assert.equal(problem.upstream_status, 417);
    assert.ok(market().length <= calls + 1, 'it is remembered');
  });

  test('of ever more unknown symbols are refused to the caller that asks for them, and to no other', async (t) => {
    const { gateway } = await sharedFor(t);
    const by = async (caller: string, symbols: string) => {
      const reply = await gateway.handle({ ...requestOf(snapshots(symbols)), caller: { unit: caller } });
      return { ...reply, text: new TextDecoder().decode(reply.body) };
    };
    await by('other', 'AAPL');
    let reply = await by('invalid', 'AAPL');
    for (let round = 0; round < 60 && reply.status !== 429; round++)
      reply = await by('invalid', Array.from({ length: 4 }, (_, at) => `ZZQ${round}X${at}`).join(','));
    const problem = problemOf(reply);
    assert.deepEqual([problem.status, problem.code], [429, 'throttled']);
    assert.match(problem.detail, /unknown to the upstream/);
    assert.ok(Number(reply.headers['retry-after']) >= 1);
    assert.equal((await by('invalid', 'AAPL')).status, 200);
    assert.equal((await by('other', 'MSFT')).status, 200);
  });

  test('with no-cache are asked for anew, down to a second', async (t) => {
    const { gateway, market, skip } = await sharedFor(t);
    await ask(gateway, snapshots('AAPL'));
    skip(1100);
    const calls = market().length;
    const reply = await ask(gateway, snapshots('AAPL'), { headers: { 'cache-control': 'no-cache' } });
    assert.equal(reply.status, 200);
    // A refresh may be due besides.
    assert.ok(market().length > calls);
    assert.ok(Number(reply.headers.age) <= 30);
  });

  test('with only-if-cached are not asked for: 504 where there is nothing', async (t) => {
    const { gateway, market } = await sharedFor(t);
    const reply = await ask(gateway, snapshots('AAPL'), { headers: { 'cache-control': 'only-if-cached' } });
    assert.deepEqual([problemOf(reply).status, problemOf(reply).code], [504, 'no_fresh_answer']);
    assert.equal(market().length, 0);
  });
});

describe('when the upstream fails', { concurrent: true }, () => {
  test('stale snapshots are given and say so, then 503 with what is known', async (t) => {
    let isDown = false;
    const { gateway, turns, skip } = await sharedFor(t, {
      tuning: { staleAfterMs: 60_000, expireAfterMs: 600_000 },
      fault: () => (isDown ? { kind: 'status', status: 500 } : undefined),
    });
    await ask(gateway, snapshots('AAPL'));
    isDown = true;
    skip(61_000);
    const stale = await ask(gateway, snapshots('AAPL'));
    assert.equal(stale.status, 200);
    assert.match(stale.headers['cache-status'] ?? '', /ttl=-\d+; detail=older-than-the-bound$/);
    assert.ok(Number(stale.headers.age) >= 61);
    const partly = await ask(gateway, snapshots('AAPL,MSFT'));
    const problem = problemOf(partly) as unknown as Record<string, unknown>;
    assert.deepEqual([problem.status, problem.code, problem.missing], [503, 'no_fresh_answer', ['MSFT']]);
    const [known] = problem.known as [{ age: number; snapshot: { symbol: string } }];
    assert.equal(known.snapshot.symbol, 'AAPL');
    assert.ok(known.age >= 61);
    skip(600_000);
    const gone = await ask(gateway, snapshots('AAPL'));
    assert.ok(gone.status >= 502, String(gone.status));
    assert.ok(turns.some(({ code, upstreamStatus }) => code === 'upstream_error' && upstreamStatus === 500));
  });

  test('with nothing known, the failure is given as what it is', async (t) => {
    const { gateway, turns } = await sharedFor(t, { fault: () => ({ kind: 'drop' }) });
    const problem = problemOf(await ask(gateway, snapshots('AAPL')));
    assert.deepEqual([problem.status, problem.code], [502, 'upstream_broken_answer']);
    assert.deepEqual(turns[0], {
      operation: 'getStockSnapshots',
      code: 'upstream_broken_answer',
      symbols: 1,
    });
  });

  for (const [error_code, status, code, ours] of [
    ['UNAUTHORIZED_CATEGORY', 403, 'data_not_subscribed', 403],
    ['INCORRECT_SIGN', 401, 'upstream_auth_failed', 502],
    ['INVALID_TOKEN', 401, 'upstream_token_expired', 503],
    ['REQUEST_TOTAL_COUNT_EXCEEDED', 429, 'upstream_quota_used_up', 503],
    ['MARKET_DATA_NOT_SUBSCRIBED', 403, 'data_not_subscribed', 403],
    // No symbol is the cause: none may count as unknown because of it.
    ['ACCOUNT_ACCESS_DENIED', 403, 'upstream_rejected', 403],
    ['UNSUPPORTED_CATEGORY', 417, 'upstream_rejected', 422],
  ] as const)
    test(`what is refused to everybody is refused as itself: ${error_code} as ${code}`, async (t) => {
      const { gateway, market } = await sharedFor(t, {
        fault: () => ({ kind: 'status', status, body: { error_code, message: 'no' } }),
      });
      for (const symbols of ['AAPL', 'MSFT,GOOGL']) {
        const problem = problemOf(await ask(gateway, snapshots(symbols)));
        assert.deepEqual([problem.status, problem.code], [ours, code]);
      }
      assert.ok(market().length <= 4, `${market().length} calls`);
    });

  for (const body of [{ error_code: 'ACCOUNT_ACCESS_DENIED' }, { error_code: 'UNSUPPORTED_CATEGORY' }])
    test(`${body.error_code} says nothing about a symbol: it is asked for again when the refusal is over`, async (t) => {
      let isRefused = true;
      const status = body.error_code === 'UNSUPPORTED_CATEGORY' ? 417 : 403;
      const { gateway, skip } = await sharedFor(t, {
        fault: () => (isRefused ? { kind: 'status', status, body } : undefined),
      });
      assert.equal(problemOf(await ask(gateway, snapshots('AAPL'))).error_code, body.error_code);
      isRefused = false;
      skip(31_000);
      assert.deepEqual(symbolsOf((await ask(gateway, snapshots('AAPL'))).text), ['AAPL']);
    });

  for (const [body, code] of [
    // As a firewall in front of the upstream answers.
    [undefined, 'upstream_auth_failed'],
    [{ error_code: 'INCORRECT_SIGN' }, 'upstream_auth_failed'],
    [{ error_code: 'MARKET_DATA_NOT_SUBSCRIBED' }, 'data_not_subscribed'],
  ] as const)
    test(`${code} for the sake of one symbol is that symbol’s: ${body?.error_code}`, async (t) => {
      let isEvil = true;
      const { gateway, another, skip } = await sharedFor(t, {
        fault: ({ query }) =>
          isEvil && query.includes('EVIL')
            ? { kind: 'status', status: 403, ...(body && { body }) }
            : undefined,
      });
      const other = another();
      assert.equal((await ask(gateway, snapshots('AAPL'))).status, 200);
      assert.equal(problemOf(await ask(gateway, snapshots('EVIL'))).code, code);
      assert.equal((await ask(other, snapshots('MSFT'))).status, 200);
      const mixed = await ask(other, snapshots('GOOGL,EVIL,AMZN'));
      assert.deepEqual(symbolsOf(mixed.text), ['GOOGL', 'AMZN']);
      assert.equal(mixed.headers['x-unknown-symbols'], 'EVIL');
      // It says nothing of whether the symbol exists.
      isEvil = false;
      skip(31_000);
      assert.equal(problemOf(await ask(gateway, snapshots('EVIL'))).upstream_status, 417);
    });

  test('a caller whose symbols are forbidden, or make the upstream fail, has few of them asked for', async (t) => {
    for (const status of [403, 500]) {
      const { gateway, market, skip } = await sharedFor(t, {
        fault: ({ query }) => (query.includes('EVIL') ? { kind: 'status', status } : undefined),
      });
      const by = async (unit: string, symbols: string) => {
        const reply = await gateway.handle({ ...requestOf(snapshots(symbols)), caller: { unit } });
        return { ...reply, text: new TextDecoder().decode(reply.body) };
      };
      await by('other', 'AAPL');
      for (let round = 0; round < 60; round++) {
        await by('evil', `EVIL${round}`);
        // A refresh is due, and shows that the upstream works.
        skip(1000);
        assert.equal((await by('other', 'AAPL')).status, 200);
      }
      const asked = market().filter(({ target }) => target.includes('EVIL'));
      assert.ok(asked.length > 0 && asked.length <= 50, `${status}: ${asked.length} calls`);
      assert.equal((await by('other', 'MSFT')).status, 200);
    }
  });

  test('a credential that is refused while symbols are served is told, and costs no symbol its name', async (t) => {
    let isRefused = false;
    const { gateway, market, skip } = await sharedFor(t, {
      fault: () =>
        isRefused ? { kind: 'status', status: 401, body: { error_code: 'UNAUTHORIZED' } } : undefined,
    });
    assert.equal((await ask(gateway, snapshots('AAPL'))).status, 200);
    isRefused = true;
    skip(2000);
    const before = market().length;
    for (const symbols of ['MSFT', 'GOOGL,AMZN', 'TSLA'])
      assert.equal(problemOf(await ask(gateway, snapshots(`AAPL,${symbols}`))).code, 'upstream_auth_failed');
    assert.ok(market().length <= before + 6, `${market().length - before} calls`);
    isRefused = false;
    skip(4000);
    for (const symbol of ['MSFT', 'GOOGL', 'AMZN', 'TSLA'])
      assert.equal((await ask(gateway, snapshots(symbol))).status, 200, symbol);
  });

  test('a path that is retired is left for the other one', async (t) => {
    const { gateway, market } = await sharedFor(t, {
      fault: ({ path }) => (path === snapshotPath ? { kind: 'status', status: 404 } : undefined),
    });
    const reply = await ask(gateway, snapshots('AAPL'));
    assert.equal(reply.status, 200, reply.text);
    assert.match(market().at(-1)?.target ?? '', /^\/market-data\/stocks\/snapshots\/list/);
  });

  test('what one caller’s symbols were refused for is no reason for another’s', async (t) => {
    let words = '';
    const { gateway } = await sharedFor(t, {
      fault: () =>
        words
          ? { kind: 'status', status: 417, body: { error_code: 'INVALID_SYMBOL', message: words } }
          : { kind: 'status', status: 500 },
    });
    words = 'JUNK1 is not known';
    assert.equal(problemOf(await ask(gateway, snapshots('JUNK1'))).status, 422);
    words = '';
    const problem = problemOf(await ask(gateway, snapshots('MSFT')));
    assert.equal(problem.code, 'upstream_error');
    assert.ok(!JSON.stringify(problem).includes('JUNK1'));
  });

  test('a 429 of the upstream stops the next calls', async (t) => {
    const { gateway, market } = await sharedFor(t, {
      fault: () => ({ kind: 'status', status: 429, headers: { 'retry-after': '30' } }),
    });
    const first = problemOf(await ask(gateway, snapshots('AAPL')));
    assert.deepEqual([first.status, first.code], [503, 'upstream_rate_limited']);
    await ask(gateway, snapshots('MSFT'));
    assert.equal(market().length, 1);
  });
});

describe('one instance’s own trouble', { concurrent: true }, () => {
  test('its broken way to the upstream keeps no other from asking', async (t) => {
    const { gateway, another, skip, turns } = await sharedFor(t);
    await ask(gateway, snapshots('AAPL'));
    const ill = another(undefined, { random: () => 0.5, send: async () => ({ kind: 'unreachable' }) });
    // By now its circuit breaker stays open for longer than a request waits.
    for (const pauseMs of [0, 1600, 1600, 3100, 6100]) {
      skip(pauseMs);
      await ask(ill, accountsPath);
    }
    const { code } = problemOf(await ask(ill, snapshots('MSFT')));
    assert.deepEqual([code, turns.at(-1)?.code], ['upstream_unreachable', 'upstream_unreachable']);
    assert.equal((await ask(gateway, snapshots('MSFT'))).status, 200);
    const before = turns.length;
    await ask(ill, snapshots('GOOGL'));
    assert.equal(turns.length, before, 'it takes no lease that it cannot use');
    assert.equal(problemOf(await ask(ill, profile)).code, 'upstream_unreachable');
    assert.equal((await ask(gateway, profile)).status, 200);
  });

  for (const reason of ['store_unavailable', 'store_busy'] as const)
    test(`a limiter that it cannot ask (${reason}) keeps no other from asking`, async (t) => {
      const { gateway, another, skip } = await sharedFor(t);
      await ask(gateway, snapshots('AAPL'));
      // No call of it is under way any more, for which a request would wait.
      skip(2000);
      const limiter: Limiter = {
        acquire: async () => ({ ok: false, reason, retryAfterMs: 50_000 }),
        block: async () => {},
        used: async () => undefined,
      };
      const ill = another(undefined, { limiter });
      assert.equal(problemOf(await ask(ill, snapshots('MSFT'))).code, 'budget_used_up');
      assert.equal((await ask(gateway, snapshots('MSFT'))).status, 200);
    });
});

describe('when the limit is used up', { concurrent: true }, () => {
  test('what is known is given, and 429 only where nothing is', async (t) => {
    // No permit expires, however busy the machine is.
    const margins = { clockOffsetMs: 0, networkMs: 0, heldBack: 0, permitLifeMs: 60_000 };
    let laterMs = 0;
    const limiterOf = (limits: Parameters<typeof createLimiter>[0]['limits']) =>
      createLimiter({
        clock: () => Date.now() + laterMs,
        store: createMemoryLimiterStore(),
        limits,
        bucket: 'test',
        margins,
      });
    const counting = limiterOf({ 'market-data': { requests: 1, perSeconds: 600 } });
    const { acquire } = limiterOf(limiterLimits());
    const limiter = { ...counting, acquire };
    const { gateway, market, skip } = await sharedFor(t, {}, { limiter });
    for (const target of [topActive, snapshots('AAPL')])
      assert.equal((await ask(gateway, target)).status, 200);
    limiter.acquire = counting.acquire;
    const last = await counting.acquire({ appKey: credentials.appKey, limits: ['market-data'] });
    assert.ok(last.ok && last.permit.consume());
    const calls = market().length;
    skip(11_000);
    // Too late for a permit to come back: nothing waits for one.
    laterMs = 3000;
    const known = await ask(gateway, snapshots('AAPL'));
    assert.equal(known.status, 200);
    assert.ok(Number(known.headers.age) >= 1);
    const refresh = await ask(gateway, topActive, { headers: { 'cache-control': 'no-cache' } });
    assert.equal(refresh.status, 200);
    assert.match(refresh.headers['cache-status'] ?? '', /^countersign; hit; ttl=-\d+$/);
    for (const target of [snapshots('MSFT'), profile]) {
      const problem = problemOf(await ask(gateway, target));
      assert.deepEqual([problem.status, problem.code], [429, 'budget_used_up']);
      assert.match(
        problem.detail,
        /nothing is wrong with this key\. The request was not sent; it had no effect\./,
      );
    }
    assert.equal(market().length, calls);
  });
});

describe('other market data', { concurrent: true }, () => {
  test('waits behind others for an address that asked for sixty things in a minute, and for no other', async (t) => {
    const asked: (string | undefined)[] = [];
    const limiter: Limiter = {
      async acquire({ priority }) {
        asked.push(priority);
        return { ok: true, permit: { expiresAt: Number.POSITIVE_INFINITY, consume: () => true } };
      },
      async block() {},
      used: async () => undefined,
    };
    // A minute that does not end.
    const now = Date.now();
    const { gateway } = await sharedFor(t, { clock: () => now }, { limiter, clock: () => now });
    const read = (member: string, count: number) =>
      gateway.handle({
        ...requestOf(
          `/market-data/stocks/footprints/list?symbols=AAPL&category=US_STOCK&timespan=M5&count=${count}`,
        ),
        caller: { unit: 'network', member },
      });
    for (let count = 1; count <= 62; count++) assert.equal((await read('greedy', count)).status, 200);
    assert.equal((await read('neighbour', 100)).status, 200);
    assert.deepEqual(asked.slice(59), [undefined, 'background', 'background', undefined]);
  });

  test('is asked for once in its time, with whatever key and on whatever instance', async (t) => {
    const { gateway, another, market } = await sharedFor(t);
    const first = await ask(gateway, profile);
    assert.equal(first.status, 200);
    assert.equal(first.headers['cache-control'], 'private, max-age=86400');
    assert.match(first.headers['cache-status'] ?? '', /^countersign; fwd=miss; ttl=86\d{3}$/);
    const other = await ask(another(), profile);
    assert.equal(other.text, first.text);
    assert.match(other.headers['cache-status'] ?? '', /^countersign; hit; ttl=86\d{3}$/);
    assert.equal(market().length, 1);
    const same = await ask(gateway, profile, { headers: { 'if-none-match': first.headers.etag ?? '' } });
    assert.deepEqual([same.status, same.text], [304, '']);
  });

  test('a refusal stands for a moment, and is the same to the byte but for the request', async (t) => {
    const { gateway, market } = await sharedFor(t, {
      fault: () => ({
        kind: 'status',
        status: 417,
        body: { error_code: 'INVALID_SYMBOL', message: 'no' },
      }),
    });
    const first = problemOf(await ask(gateway, depth));
    const again = problemOf(await ask(gateway, depth));
    // The upstream's request id is for the request that caused it.
    assert.equal(first.upstream_request_id, 'sim-1');
    const { upstream_request_id: _, ...others } = first;
    assert.deepEqual(again, others);
    assert.deepEqual([first.status, first.code], [422, 'upstream_rejected']);
    assert.equal(market().length, 1);
  });

  test('a path that the upstream does not serve is one request’s own', async (t) => {
    const alias = depth.replace('/openapi/market-data/stock/quotes', '/market-data/stocks/depths/list');
    const { gateway } = await sharedFor(t, {
      fault: ({ path }) => (path.includes('depths') ? { kind: 'status', status: 404 } : undefined),
    });
    assert.equal(problemOf(await ask(gateway, alias)).code, 'upstream_path_unknown');
    assert.equal((await ask(gateway, depth)).status, 200);
    assert.equal((await ask(gateway, alias)).status, 200);
  });

  test('a batch of bars, which is a POST, is shared without conditions', async (t) => {
    const { gateway, market } = await sharedFor(t);
    const { search, body } = await callOf('listStockBars', async () => ({}));
    const path = `/market-data/stocks/bars/list${search}`;
    const first = await ask(gateway, path, { body: body! });
    assert.equal(first.status, 200, first.text);
    const headers = { 'if-none-match': first.headers.etag ?? '' };
    const again = await ask(gateway, path, { body: body!, headers });
    assert.deepEqual([again.status, again.text], [200, first.text]);
    assert.equal(market().length, 1);
  });

  test('what changes an account, or is a preview of that, is never shared', async (t) => {
    const { gateway, simulator } = await sharedFor(t);
    for (let round = 0; round < 3; round++)
      for (const path of [orderPath, previewOrder.path]) {
        const reply = await ask(gateway, path, { body: orderBody() });
        assert.deepEqual([reply.status, reply.headers['cache-control']], [200, 'no-store'], reply.text);
      }
    assert.equal(simulator.received.length, 6);
  });

  test('without a secret nothing is served, though it is known: that is how an operator shuts the gateway', async (t) => {
    const { gateway, another } = await sharedFor(t);
    await ask(gateway, profile);
    assert.equal((await ask(another(), profile)).status, 200);
    const shut = await sharedFor(t, {}, { secrets: { read: async () => undefined } });
    assert.equal(problemOf(await ask(shut.gateway, profile)).code, 'secret_not_set');
    assert.equal(problemOf(await ask(shut.gateway, snapshots('AAPL'))).code, 'secret_not_set');
  });
});

test('a response from memory is named and tagged without a digest', async (t) => {
  const { gateway } = await sharedFor(t);
  const { headers } = await ask(gateway, profile);
  const digest = vi.spyOn(crypto.subtle, 'digest');
  t.onTestFinished(() => digest.mockRestore());
  const again = await ask(gateway, profile);
  assert.deepEqual([again.headers.etag, digest.mock.calls.length], [headers.etag, 0]);
});
