import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import * as v from 'valibot';
import { describe, type TestContext, test } from 'vitest';
import { isRequest, type RequestEntry } from '../../functions/log/log.ts';
import { minimumCompressionBytes } from '../../infra/api-gateway-answers.ts';
import { StartError } from '../../infra/environment.ts';
import type { AccessLogEntry } from '../../infra/local/api-gateway.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import type { LocalSettings } from '../../infra/local/settings.ts';
import { type ApiFault, type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import { exposedOperations, getConfig, openable, operations, routesOf } from '../../lib/catalogue/index.ts';
import { callOf, type Prepare } from '../support/calls.ts';
import { closedPort } from '../support/closed-port.ts';
import {
  accountsPath,
  credentials,
  orderBody,
  orderPath,
  type Problem,
  snapshotPath,
  snapshotTarget,
} from '../support/core.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const settings: LocalSettings = {
  port: 0,
  apiKey: 'key-of-this-test',
  openGroups: openable,
  credentials,
  upstream: { simulatorPort: 0 },
  // No price is read before an order.
  tradingLimits: {},
};

const withKey = { 'x-api-key': settings.apiKey };
const withBody = { ...withKey, 'content-type': 'application/json' };

async function runFor(t: TestContext, change: Partial<LocalSettings> = {}) {
  const access: AccessLogEntry[] = [];
  const reports: RequestEntry[] = [];
  const defects: unknown[] = [];
  const run = await startLocalRun(
    { ...settings, ...change },
    {
      access: (entry) => access.push(entry),
      log(entry) {
        if (isRequest(entry)) reports.push(entry);
      },
      defect: (error) => defects.push(error),
    },
  );
  t.onTestFinished(async () => {
    await run.close();
    assert.deepEqual(defects, []);
  });
  const ask = (target: string, init: RequestInit = {}) =>
    fetch(run.url + target, { headers: withKey, ...init });
  return { ...run, access, reports, ask };
}

/** A local run in front of a simulator in which things go wrong. */
async function runBefore(
  t: TestContext,
  options: Partial<SimulatorOptions>,
  change: Partial<LocalSettings> = {},
) {
  const simulator = await startSimulator({ ...credentials, ...options });
  t.onTestFinished(() => simulator.close());
  return { ...(await runFor(t, { ...change, upstream: { baseUrl: simulator.url } })), simulator };
}

async function problemOf(response: Response): Promise<Problem> {
  assert.equal(response.headers.get('content-type'), 'application/json');
  const problem = (await response.json()) as Problem;
  assert.equal(problem.status, response.status);
  assert.equal(problem.request_id, response.headers.get('x-amzn-requestid'));
  return problem;
}

test('a list as several parameters of the query arrives as one list', async (t) => {
  const { ask, simulator } = await runBefore(t, {});
  const { status } = await ask(`${snapshotPath}?symbols=AAPL&category=US_STOCK&symbols=MSFT`);
  assert.equal(status, 200);
  const { searchParams } = new URL(simulator.received.at(-1)?.target ?? '', 'http://upstream');
  // The refresh may ask for them in an order of its own.
  assert.deepEqual(
    searchParams.getAll('symbols').map((list) => list.split(',').sort()),
    [['AAPL', 'MSFT']],
  );
});

describe('a 200 of the upstream, through everything', () => {
  const bodies: readonly (readonly [name: string, body: string])[] = [
    [
      'that a parser would change',
      '{ "z" : 1.10,\t"a":12345678901234567890 , "a": -0,\r\n "e":1E+2, "10":1, "9":2 }\n',
    ],
    ['beyond ASCII', '["é","\u2028\u2029","😀","\\u00e9\\ud800","<&>\\u003c"]'],
    ['with a byte order mark', '\ufeff[1.10]'],
    ['of one character', '0'],
    ['of some size', JSON.stringify(Array(20_000).fill('größer'))],
  ];
  for (const [name, body] of bodies) {
    test(`arrives byte for byte: one ${name}`, async (t) => {
      const { ask } = await runBefore(t, { fault: () => ({ kind: 'status', status: 200, body }) });
      const response = await ask(accountsPath);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/json');
      const isLarge = Buffer.byteLength(body) >= minimumCompressionBytes;
      assert.equal(response.headers.get('content-encoding'), isLarge ? 'gzip' : null);
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(body)));
    });
  }

  test('arrives decompressed when the upstream compresses', async (t) => {
    let fault: ApiFault | undefined;
    const { ask, simulator } = await runBefore(t, { fault: () => fault }, { cache: 'off' });
    const plain = await (await ask(accountsPath)).text();
    fault = { kind: 'gzip' };
    const zipped = await ask(accountsPath);
    assert.equal(simulator.received.at(-1)?.fault, 'gzip');
    assert.equal(await zipped.text(), plain);
  });
});

describe('an existing client of the interface', () => {
  test('works with another base URL and an API key: what it signed is dropped', async (t) => {
    const { ask, simulator } = await runFor(t);
    const canary = 'of-the-client';
    const headers = {
      ...withKey,
      ...Object.fromEntries(
        [
          'X-App-Key',
          'x-signature',
          'X-SIGNATURE-NONCE',
          'x-signature-algorithm',
          'x-signature-version',
          'x-timestamp',
          'x-version',
          'x-access-token',
          'cookie',
          'authorization',
          'x-forwarded-host',
          'x-unknown',
        ].map((name) => [name, canary]),
      ),
    };
    const response = await ask(snapshotTarget, { headers });
    assert.equal(response.status, 200);
    const [received] = simulator!.received;
    assert.equal(received?.outcome, 'ok');
    assert.ok(!JSON.stringify(received).includes(canary));
    assert.ok(!JSON.stringify(received).includes(settings.apiKey));
    assert.equal(received?.headers['x-app-key'], credentials.appKey);
    assert.equal(received?.headers.host, `127.0.0.1:${simulator!.port}`);
  });

  test('may name the run by its other names: the upstream’s own host is signed and sent', async (t) => {
    const { url, simulator } = await runFor(t);
    const callAs = async (host: string) => {
      const outgoing = httpRequest(url + accountsPath, { headers: { ...withKey, host }, agent: false }).end();
      const [incoming] = await once(outgoing, 'response');
      const { code, detail } = JSON.parse(Buffer.concat(await incoming.toArray()).toString());
      return { status: incoming.statusCode, code, detail };
    };
    const { status, code, detail } = await callAs(`evil.example.com:${new URL(url).port}`);
    assert.deepEqual([status, code, simulator!.received.length], [403, 'forbidden', 0]);
    assert.match(detail, /header Host names another server.*not sent/);
    assert.equal((await callAs(`localhost:${new URL(url).port}`)).status, 200);
    assert.equal(simulator!.received[0]?.headers.host, `127.0.0.1:${simulator!.port}`);
  });

  test('may write its query as forms do', async (t) => {
    const { ask, simulator } = await runBefore(t, {
      fault: () => ({ kind: 'status', status: 200, body: '[]' }),
    });
    await ask(`${snapshotPath}?symbols=BRK+B%2CA%2BB,C%7E*&category=US_STOCK&overnight_required=True`);
    assert.equal(
      simulator.received[0]?.target,
      `${snapshotPath}?symbols=BRK%20B%2CA%2BB%2CC~%2A&category=US_STOCK&overnight_required=true`,
    );
  });

  test('may write its body as it likes, or learns what is wrong with it', async (t) => {
    const { ask, simulator } = await runFor(t);
    const post = (body: string | Uint8Array<ArrayBuffer>) =>
      ask(orderPath, { method: 'POST', headers: withBody, body });
    const compact = orderBody({ position_id: 'größer <&>' });
    const response = await post(
      JSON.stringify(JSON.parse(compact), undefined, 2).replace('<&>', '\\u003c\\u0026\\u003e'),
    );
    assert.equal(response.status, 200);
    assert.equal(simulator!.received[0]?.body, compact);
    for (const body of ['{', '{"a":1,"a":2}', `\ufeff${compact}`, Uint8Array.from([0x22, 0xff, 0x22])])
      assert.equal((await problemOf(await post(body))).code, 'invalid_body');
    assert.equal(simulator!.received.length, 1);
  });
});

describe('what is open', () => {
  test('answers, with every path of every operation', async (t) => {
    // More than the plan lets through at once.
    const marketDataLimit = { requests: 100_000, perSeconds: 60 };
    const { ask, simulator, reports, access } = await runBefore(
      t,
      { limits: { 'market-data': marketDataLimit }, unrouted: [] },
      { marketDataLimit, cache: 'off' },
    );
    const post = (path: string, body: string) => ask(path, { method: 'POST', headers: withBody, body });
    // After a minute the settlement and the listener ask, too.
    const asked = new Set<string>();
    const received = () => simulator.received.filter(({ target }) => asked.has(target));
    const prepare: Prepare = async (path, body) => {
      asked.add(path);
      return (await post(path, JSON.stringify(body))).json();
    };
    for (const { method, path, operation } of routesOf(exposedOperations(operations, openable))) {
      const { search, body } = await callOf(operation.id, prepare);
      asked.add(path + search);
      const response = await (body ? post(path + search, body) : ask(path + search, { method }));
      const text = await response.text();
      assert.equal(response.status, 200, `${path}: ${text}`);
      assert.ok(v.is(operation.response, JSON.parse(text)), `${path}: the answer fits its schema`);
      assert.equal(access.at(-1)?.path, path);
      if (operation.gatewayAnswer || operation.answeredBy) continue;
      assert.equal(received().at(-1)?.target, path + search);
      assert.equal(reports.at(-1)?.operation, operation.id);
      assert.equal(reports.at(-1)?.requestId, response.headers.get('x-amzn-requestid'));
    }
    assert.ok(reports.length >= 132, 'paths of 73 operations');
    // API Gateway itself answers the configuration.
    assert.equal(access.length, reports.length + 1);
    // On a busy machine a read may be sent again.
    const attempts = reports.reduce((sum, one) => sum + one.attempts, 0);
    assert.equal(received().length, attempts);
  });

  test('is no more than was opened', async (t) => {
    const { ask, simulator, reports } = await runFor(t, { openGroups: ['market-data'] });
    assert.equal((await ask(snapshotTarget)).status, 200);
    for (const { method, path, operation } of routesOf(operations)) {
      if (operation.group === 'market-data' || operation.gatewayAnswer) continue;
      const body = method === 'POST' ? { body: orderBody() } : {};
      const problem = await problemOf(await ask(path, { method, headers: withBody, ...body }));
      assert.equal(problem.status, 404);
      assert.equal(problem.code, 'unknown_operation');
      assert.doesNotMatch(problem.detail, /trading|nearest one is (?!GET \/(openapi\/)?market-data)/);
    }
    assert.equal(simulator!.received.length, 1);
    assert.equal(reports.length, 1);
  });

  test('is nothing, when nothing was opened', async (t) => {
    const { ask } = await runFor(t, { openGroups: [] });
    assert.equal((await ask(snapshotTarget)).status, 404);
    assert.equal((await ask('/health')).status, 200);
  });
});

describe('in front of the handlers', () => {
  test('the configuration needs no key, whatever is open, and is asked of nobody', async (t) => {
    const { url, simulator, reports } = await runFor(t, { openGroups: [] });
    for (const headers of [{}, { 'x-api-key': 'another' }, { 'x-version': 'v2', 'x-signature': 'old' }]) {
      const response = await fetch(`${url}${getConfig.path}`, { headers });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.deepEqual(await response.json(), { token_check_enabled: false });
    }
    assert.deepEqual([simulator!.received.length, reports.length], [0, 0]);
  });

  test('health needs no key, and neither do 404 and 405', async (t) => {
    const { url, simulator, reports } = await runFor(t);
    const health = await fetch(`${url}/health`);
    assert.equal(health.status, 200);
    assert.deepEqual(await health.json(), { status: 'ok' });

    const unknown = await problemOf(await fetch(`${url}/unknown`));
    assert.deepEqual([unknown.status, unknown.code], [404, 'unknown_operation']);
    assert.match(unknown.detail, /open here\. \/docs shows all that are\.$/);
    const misspelt = await problemOf(await fetch(`${url}${snapshotPath}s`));
    assert.match(misspelt.detail, new RegExp(`The nearest one is GET ${snapshotPath}\\. /docs shows all`));

    for (const [path, method, allowed] of [
      [accountsPath, 'POST', 'GET'],
      [orderPath, 'GET', 'POST'],
      ['/health', 'DELETE', 'GET, HEAD'],
    ] as const) {
      const response = await fetch(url + path, { method });
      assert.equal(response.headers.get('allow'), allowed);
      const problem = await problemOf(response);
      assert.deepEqual([problem.status, problem.code], [405, 'method_not_allowed']);
      assert.equal(problem.detail, `This path takes ${allowed.replace(', ', ' or ')}.`);
    }
    assert.equal(simulator!.received.length, 0);
    assert.equal(reports.length, 0);
  });

  test('everything else needs the key of this run', async (t) => {
    const { url, simulator } = await runFor(t);
    for (const [headers, code] of [
      [{}, 'missing_api_key'],
      [{ 'x-api-key': '' }, 'missing_api_key'],
      [{ 'x-api-key': 'another' }, 'unknown_api_key'],
      [{ 'x-api-key': `${settings.apiKey}x` }, 'unknown_api_key'],
    ] as const) {
      const problem = await problemOf(await fetch(url + accountsPath, { headers }));
      assert.deepEqual([problem.status, problem.code], [403, code]);
    }
    assert.equal(simulator!.received.length, 0);
  });
});

describe('in front of the handlers', () => {
  test('another key of this run has a bucket of its own', async (t) => {
    const { ask, access } = await runFor(t, { otherApiKeys: ['another'] });
    // Until the key's own is empty: it refills while a busy machine is at work.
    const burst = () => Promise.all(Array.from({ length: 100 }, () => ask(snapshotTarget)));
    while (!(await burst()).some(({ status }) => status === 429));
    assert.equal((await ask(snapshotTarget, { headers: { 'x-api-key': 'another' } })).status, 200);
    assert.deepEqual(new Set(access.map(({ apiKeyId }) => apiKeyId)), new Set(['local', 'local-2']));
  });

  test('a key has 60 requests at once, then learns when to come again; the upstream’s limit is never hit', async (t) => {
    const { ask, simulator, url } = await runFor(t);
    const responses = await Promise.all(Array.from({ length: 150 }, () => ask(snapshotTarget)));
    const served = responses.filter(({ status }) => status === 200);
    const throttled = responses.filter(({ status }) => status === 429);
    assert.equal(served.length + throttled.length, 150);
    assert.ok(served.length >= 60);
    assert.ok(throttled.length > 0);
    for (const response of throttled) {
      assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      const problem = await problemOf(response);
      assert.deepEqual([problem.code, problem.error_code], ['throttled', 'TOO_MANY_REQUESTS']);
    }
    // Equal reads share what the first of them brought, and on a busy machine a few refreshes.
    const asked = simulator!.received.filter(({ target }) => target.includes('snapshot')).length;
    assert.ok(asked < served.length / 2, String(asked));
    assert.equal(simulator!.counts.TOO_MANY_REQUESTS, undefined);
    // The plan is the key's: who asks without one is not its concern.
    assert.equal((await fetch(`${url}/health`)).status, 200);
  });

  test('under the plan of an app, one key has many clients', async (t) => {
    const { ask } = await runFor(t, { plan: 'app' });
    const responses = await Promise.all(Array.from({ length: 150 }, () => ask(accountsPath)));
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
  });

  test('what counts against the upstream’s limit has a permit of the run’s limiter', async (t) => {
    const { ask, reports } = await runFor(t, { cache: 'off' });
    for (const target of [snapshotTarget, accountsPath]) assert.equal((await ask(target)).status, 200);
    assert.deepEqual(
      reports.map(({ waitedMs }) => typeof waitedMs),
      ['number', 'undefined'],
    );
  });
});

describe('the upstream’s failures, through everything', () => {
  for (const [fault, status, code] of [
    [
      { kind: 'status', status: 417, body: { error_code: 'INVALID_PARAMETER', message: 'no' } },
      422,
      'upstream_rejected',
    ],
    [{ kind: 'status', status: 429, headers: { 'retry-after': '5' } }, 503, 'upstream_rate_limited'],
    [{ kind: 'status', status: 302, headers: { location: '/' } }, 502, 'upstream_error'],
    [{ kind: 'truncate' }, 502, 'upstream_broken_answer'],
    [{ kind: 'not-json' }, 502, 'upstream_broken_answer'],
    [{ kind: 'drop' }, 502, 'upstream_broken_answer'],
    [{ kind: 'oversized', bytes: 5_000_000 }, 502, 'upstream_answer_too_large'],
  ] as const) {
    test(`${JSON.stringify(fault)} is ${status} ${code} for a read, and an order is sent once`, async (t) => {
      const { ask, simulator } = await runBefore(t, { fault: () => fault });
      const response = await ask(accountsPath);
      if (fault.kind === 'status' && fault.status === 429)
        assert.equal(response.headers.get('retry-after'), '5');
      const problem = await problemOf(response);
      assert.deepEqual([problem.status, problem.code], [status, code]);

      const before = simulator.received.length;
      const order = await problemOf(
        await ask(orderPath, { method: 'POST', headers: withBody, body: orderBody() }),
      );
      assert.equal(order.code, status === 502 ? 'outcome_unknown' : code);
      // An order whose answer is lost is looked up besides.
      const [sent, ...others] = simulator.received.slice(before);
      assert.equal(sent?.method, 'POST');
      assert.equal(others.length > 0, status === 502);
      assert.ok(others.every(({ method }) => method === 'GET'));
    });
  }

  test('an upstream that is not there is 502 for both', async (t) => {
    const { ask } = await runFor(t, { upstream: { baseUrl: `http://127.0.0.1:${await closedPort()}` } });
    assert.equal((await problemOf(await ask(accountsPath))).code, 'upstream_unreachable');
    const order = await problemOf(
      await ask(orderPath, { method: 'POST', headers: withBody, body: orderBody() }),
    );
    assert.deepEqual([order.status, order.code], [502, 'upstream_unreachable']);
  });
});

describe('the local run', () => {
  const connects = (host: string, port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ host, port });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });

  test('listens on 127.0.0.1 alone', async (t) => {
    const { url, upstreamUrl } = await runFor(t);
    for (const { port } of [new URL(url), new URL(upstreamUrl)]) {
      assert.ok(await connects('127.0.0.1', Number(port)));
      for (const host of ['127.0.0.2', '::1']) assert.ok(!(await connects(host, Number(port))), host);
    }
  });

  test('is gone when it was closed', async () => {
    const run = await startLocalRun(settings);
    assert.equal((await fetch(run.url + accountsPath, { headers: withKey })).status, 200);
    await run.close();
    for (const { port } of [new URL(run.url), new URL(run.upstreamUrl)])
      assert.ok(!(await connects('127.0.0.1', Number(port))));
  });

  for (const taken of ['PORT', 'UPSTREAM_PORT', 'EVENTS_PORT'] as const) {
    test(`does not start, and leaves nothing running, when ${taken} is taken`, async (t) => {
      const blocker = createServer().listen(0, '127.0.0.1');
      await once(blocker, 'listening');
      t.onTestFinished(() => void blocker.close());
      const { port } = blocker.address() as AddressInfo;
      const other = await closedPort();
      const another = await closedPort();
      const [api, simulatorPort, eventsPort] = {
        PORT: [port, other, another] as const,
        UPSTREAM_PORT: [other, port, another] as const,
        EVENTS_PORT: [other, another, port] as const,
      }[taken];
      await assert.rejects(
        startLocalRun({ ...settings, port: api, upstream: { simulatorPort, eventsPort } }),
        (error: unknown) => {
          assert.ok(error instanceof StartError);
          assert.equal(error.message, `Port ${port} is taken: set ${taken} to another.`);
          return true;
        },
      );
      for (const free of [other, another]) assert.ok(!(await connects('127.0.0.1', free)));
    });
  }
});

test('keeps the limits that it was given, and the simulator enforces them', async (t) => {
  const upstreamLimits = {
    'market-data': { requests: 3, perSeconds: 60 },
    'accounts-list': { requests: 2, perSeconds: 60 },
  };
  const { ask, simulator } = await runFor(t, { openGroups: openable, upstreamLimits, cache: 'off' });
  const statusesOf = async (targets: readonly string[]) =>
    Promise.all(targets.map(async (target) => (await ask(target)).status));
  const screener = '/market-data/screeners/market-sectors/list?category=US_STOCK';
  const statuses = await statusesOf([
    ...Array<string>(6).fill(snapshotTarget),
    ...Array<string>(3).fill(accountsPath),
  ]);
  // Of so small a figure nothing is held back: its window is longer instead.
  assert.deepEqual(statuses.sort(), [200, 200, 200, 200, 200, 429, 429, 429, 429]);
  assert.notEqual((await ask(screener)).status, 429, 'another endpoint has a counter of its own');
  assert.equal(simulator!.counts.TOO_MANY_REQUESTS, undefined);
});

test('an order that is sent again is answered with what became of the first, under the published limits, too', async (t) => {
  for (const upstreamLimits of ['interface', 'published'] as const) {
    const { ask, simulator } = await runFor(t, { upstreamLimits });
    const init = { method: 'POST', headers: withBody, body: orderBody({ client_order_id: 'sent-again' }) };
    const [first, again] = [await ask(orderPath, init), await ask(orderPath, init)];
    assert.equal(again.status, 200);
    assert.equal(await again.text(), await first.text());
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(simulator?.orders.length, 1);
  }
});
