/**
 * Seeded faults, each named right: by the smoke test, which sees answers only, and by the local run, which sees reports.
 * A correct stack makes the one say that all is well, and the other nothing.
 */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { describe, type TestContext, test } from 'vitest';
import { createNodeSend } from '../../../functions/aws/node-send.ts';
import { isRequest } from '../../../functions/log/log.ts';
import { smoke } from '../../../infra/commands/smoke.ts';
import { diagnose } from '../../../infra/diagnose.ts';
import { startApiGateway } from '../../../infra/local/api-gateway.ts';
import { createDoctor } from '../../../infra/local/doctor.ts';
import { startLocalRun } from '../../../infra/local/local-run.ts';
import { constantPages } from '../../../infra/local/pages.ts';
import type { LocalSettings } from '../../../infra/local/settings.ts';
import { type SimulatorOptions, startSimulator } from '../../../infra/simulator/index.ts';
import { createToken, openable, operations, planOfTier, routesOf } from '../../../lib/catalogue/index.ts';
import { createClient, direct } from '../../../lib/client/index.ts';
import { type GatewayOptions, refusalKinds } from '../../../lib/gateway/index.ts';
import { unreachable } from '../../../lib/gateway/send.ts';
import { createSigner } from '../../../lib/signer/index.ts';
import { causes } from '../../../lib/upstream/cause.ts';
import { selfSigned } from '../../deployed/self-signed.ts';
import { closedPort } from '../../support/closed-port.ts';
import { credentials, orderBody, orderPath, secretText } from '../../support/core.ts';
import { createGroupHandler } from '../../support/group-handler.ts';
import { portFor, urlFor } from '../../support/listening.ts';
import { until } from '../../support/until.ts';

const apiKey = 'key-of-this-test';
const day = 86_400_000;

interface Seen {
  /** Of the smoke test. */
  readonly words: string;
  readonly healthy: boolean;
  /** Of the local run. */
  readonly lines: readonly string[];
}

type Seeded = (t: TestContext) => Promise<Seen>;

async function seenAt(t: TestContext, change: Partial<LocalSettings> & { baseUrl: string }): Promise<Seen> {
  const { baseUrl, ...others } = change;
  const settings = {
    port: 0,
    apiKey,
    openGroups: openable,
    credentials,
    upstream: { baseUrl },
    ...others,
  } as const satisfies LocalSettings;
  const lines: string[] = [];
  const doctor = createDoctor({ ...settings, baseUrl }, (line) => lines.push(line));
  const observed: Promise<void>[] = [];
  const run = await startLocalRun(settings, {
    log(entry) {
      if (isRequest(entry)) observed.push(doctor.observe(entry));
    },
  });
  t.onTestFinished(() => run.close());
  const seen = await smoke(run.url, apiKey);
  await Promise.all(observed);
  return { ...seen, lines };
}

/** A local run in front of a simulator. */
const inFrontOf =
  (options: Partial<SimulatorOptions>, change: Partial<LocalSettings> = {}): Seeded =>
  async (t) => {
    const simulator = await startSimulator({ ...credentials, ...options });
    t.onTestFinished(() => simulator.close());
    return seenAt(t, { ...change, baseUrl: simulator.url });
  };

const at =
  (baseUrl: string): Seeded =>
  (t) =>
    seenAt(t, { baseUrl });

const webPage =
  (listener: RequestListener): Seeded =>
  async (t) =>
    seenAt(t, { baseUrl: await urlFor(t, createServer(listener)) });

/** The handler of market data with options of its own, behind the local API Gateway; nobody prints reports there. */
async function smokeWith(t: TestContext, options: Partial<GatewayOptions>): Promise<Seen> {
  const own = operations.filter(({ group }) => group === 'market-data');
  const handler = createGroupHandler({
    access: 'single-user',
    operations: own,
    upstreamBaseUrl: 'https://broker.example',
    secrets: { read: async () => secretText() },
    ...options,
  });
  const api = await startApiGateway({
    routes: routesOf(own).map(({ method, path }) => ({ method, path, handler })),
    pages: constantPages(operations),
    apiKeys: [{ id: 'local', value: apiKey }],
    plan: planOfTier('app'),
    refuse: (code) => ({ status: 500, headers: {}, body: code }),
  });
  t.onTestFinished(() => api.close());
  const { words, healthy } = await smoke(api.url, apiKey);
  return { words, healthy, lines: [words.replace(/ \(\d{3} .*$/, '')] };
}

const withSecret =
  (text: string | undefined): Seeded =>
  (t) =>
    smokeWith(t, { secrets: { read: async () => text } });

/** Good for the name `localhost`, and asked by its address. */
const withCertificate =
  (isTrusted: boolean): Seeded =>
  async (t) => {
    const { key, cert } = selfSigned();
    const server = createHttpsServer({ key, cert }, (_, response) => response.end('{}'));
    server.on('tlsClientError', () => {});
    const upstreamBaseUrl = `https://${isTrusted ? '127.0.0.1' : 'localhost'}:${await portFor(t, server)}`;
    return smokeWith(t, { upstreamBaseUrl, send: createNodeSend(isTrusted ? { ca: cert } : {}) });
  };

/** A token that was made so long ago, and approved after so long. */
const withToken =
  (agoMs: number, tokenApprovalMs: number): Seeded =>
  async (t) => {
    let elsewhen = -agoMs;
    const clock = () => Date.now() + elsewhen;
    const simulator = await startSimulator({
      ...credentials,
      clock,
      tokenApprovalMs,
      accessToken: 'another',
    });
    t.onTestFinished(() => simulator.close());
    const signer = createSigner({ ...credentials, clock });
    const client = createClient({ createToken }, direct({ baseUrl: simulator.url, signer }));
    const { token: accessToken } = await client.createToken({});
    elsewhen = 0;
    return seenAt(t, { baseUrl: simulator.url, accessToken });
  };

const answers = (status: number, error_code?: string): Seeded =>
  inFrontOf({
    fault: () => ({ kind: 'status', status, body: error_code ? { error_code, message: 'words' } : '' }),
  });

const html = { 'content-type': 'text/html' };
const unknownApp = { appKey: 'a-key-that-nobody-issued', appSecret: 'core-test-app-secret' };
const wrongSecret = { ...credentials, appSecret: 'a-secret-of-another-key' };

interface Fault {
  readonly name: string;
  readonly seeded: Seeded;
  readonly smoke: RegExp;
  /** Where the local run knows more, or is not there. */
  readonly line?: RegExp;
}

const faults: readonly Fault[] = [
  {
    name: 'the key of another environment',
    seeded: inFrontOf({ foreignKeys: [credentials.appKey] }),
    smoke: /^The upstream knows no path.* key of another environment/,
    line: /^The upstream knows no path.* key of another environment/,
  },
  {
    name: 'a key that is not known',
    seeded: inFrontOf({}, { credentials: unknownApp }),
    smoke: /^The upstream does not know the app key/,
  },
  {
    name: 'a wrong secret',
    seeded: inFrontOf({}, { credentials: wrongSecret }),
    smoke: /^The app secret is wrong/,
  },
  {
    name: 'a clock that is ten minutes behind',
    seeded: inFrontOf({ clock: () => Date.now() + 600_000 }),
    smoke: /^The gateway’s clock is (599|600|601) s behind the upstream’s.*Set the clock/,
  },
  {
    name: 'a clock that is ten minutes ahead',
    seeded: inFrontOf({ clock: () => Date.now() - 600_000 }),
    smoke: /^The gateway’s clock is (599|600|601) s ahead of the upstream’s.*Set the clock/,
  },
  {
    name: 'a clock of an upstream that has one code for all',
    seeded: inFrontOf({
      clock: () => Date.now() + 120_000,
      fault: () => ({ kind: 'status', status: 401, body: { error_code: 'UNAUTHORIZED' } }),
    }),
    smoke: /^The gateway’s clock is (119|120|121) s behind/,
  },
  {
    name: 'no token where one is needed',
    seeded: inFrontOf({ accessToken: 'a-token-that-is-needed' }),
    smoke: /^The upstream asks for an access token, and there is none.*ACCESS_TOKEN/,
  },
  {
    name: 'a pending token',
    seeded: withToken(0, 200_000),
    smoke: /^The upstream does not accept the access token: it is pending, expired or invalid/,
    line: /^The access token is pending: its owner has not confirmed it\. Confirm it/,
  },
  {
    name: 'an expired token',
    seeded: withToken(16 * day, 0),
    smoke: /^The upstream does not accept the access token/,
    line: /^The access token has expired\. Run countersign token/,
  },
  {
    name: 'a token that nobody confirmed',
    seeded: withToken(600_000, 600_000),
    smoke: /^The upstream does not accept the access token/,
    line: /^The access token is invalid/,
  },
  {
    name: 'no subscription',
    seeded: inFrontOf({ unsubscribed: ['US_STOCK'] }),
    smoke: /^The user of the app key has no subscription for the market data US_STOCK.*Subscribe to it/,
  },
  {
    name: 'a path that was retired',
    seeded: inFrontOf({ unrouted: ['getStockSnapshots'] }),
    smoke: /^The upstream serves other paths, but not this one.*upstream\.paths/,
    line: /^The upstream does not serve this path.*upstream\.paths/,
  },
  {
    name: 'a tighter limit than the one that is kept',
    seeded: inFrontOf({ limits: { 'market-data': { requests: 0, perSeconds: 60 } } }),
    smoke: /^The upstream answers 429 although.*limiter\.operationLimits/,
  },
  {
    name: 'nothing listens at the host',
    seeded: async (t) => at(`http://127.0.0.1:${await closedPort()}`)(t),
    smoke: /^Nothing listens at the upstream’s host and port/,
  },
  {
    name: 'a host that is not there',
    // As Node's own error says it: no unit test asks a name server.
    seeded: (t) =>
      smokeWith(t, { send: async () => unreachable({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }) }),
    smoke: /^The upstream’s host name does not exist/,
  },
  {
    name: 'a web page answers',
    seeded: webPage((_, response) => response.writeHead(200, html).end('<p>Welcome')),
    smoke: /^A web page or a redirect answers in the upstream’s place/,
  },
  {
    name: 'a web page that knows no such path',
    seeded: webPage((_, response) => response.writeHead(404, html).end('<p>Not here')),
    smoke: /^A web page or a redirect answers in the upstream’s place/,
  },
  {
    name: 'a redirect to somewhere else',
    seeded: webPage((_, response) => response.writeHead(302, { location: 'https://a.example' }).end()),
    smoke: /^A web page or a redirect answers in the upstream’s place/,
  },
  {
    name: 'the host of another region, by its certificate',
    seeded: withCertificate(true),
    smoke: /^The upstream’s certificate is for another name.*another region’s/,
  },
  {
    name: 'a certificate that nobody signed',
    seeded: withCertificate(false),
    smoke: /^The upstream’s certificate is signed by no authority/,
  },
  {
    name: 'an upstream that is down',
    seeded: answers(503),
    smoke: /^The upstream fails\. Check the base URL, and whether the upstream is up\./,
  },
  {
    name: 'an address that is not on the list',
    seeded: answers(401, 'OPENAPI_IP_NOT_ALLOWED'),
    smoke: /^The upstream takes this app key from other addresses only/,
  },
  {
    name: 'a proxy that takes a header away',
    seeded: answers(401, 'MISSING_APP_KEY'),
    smoke: /^A signing header did not arrive/,
  },
  {
    name: 'another version of the interface',
    seeded: answers(401, 'UNSUPPORTED_API_VERSION'),
    smoke: /^The upstream takes another version/,
  },
  {
    name: 'a refusal without a reason',
    seeded: answers(401),
    smoke: /^The upstream refuses the credentials, and does not say why/,
  },
  {
    name: 'a secret that is not set',
    seeded: withSecret(undefined),
    smoke: /^The secret is empty\. .*countersign secret/,
  },
  {
    name: 'a secret that is none',
    seeded: withSecret('core-test-app-secret'),
    smoke: /^The secret is not of the form/,
  },
];

describe('the smoke test and the local run name', () => {
  for (const { name, seeded, smoke: expected, line = expected } of faults)
    test(name, async (t) => {
      const { healthy, words, lines } = await seeded(t);
      assert.equal(healthy, false);
      assert.match(words, expected);
      assert.match(words, /\(\d{3} [a-z_]+, request [\w-]+\)$/);
      assert.match(lines.at(-1) ?? '', line);
      const others = faults.filter((other) => other.smoke.source !== expected.source);
      for (const other of others)
        if (!sameWords(other.smoke, expected)) assert.doesNotMatch(words, other.smoke, other.name);
      for (const hidden of ['core-test-app', 'a-key-that', 'a-secret-of', 'a-token-that'])
        assert.ok(![words, ...lines].join('\n').includes(hidden), hidden);
    });

  test('an account that is not ours: the local run, at the first order', async (t) => {
    const simulator = await startSimulator(credentials);
    const lines: string[] = [];
    const doctor = createDoctor({ baseUrl: simulator.url, credentials }, (line) => lines.push(line));
    const run = await startLocalRun(
      { port: 0, apiKey, openGroups: openable, credentials, upstream: { baseUrl: simulator.url } },
      { log: (entry) => void (isRequest(entry) && doctor.observe(entry)) },
    );
    t.onTestFinished(async () => {
      await run.close();
      await simulator.close();
    });
    const foreign = 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ';
    const body = JSON.stringify({ ...JSON.parse(orderBody()), account_id: foreign });
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    for (let times = 0; times < 2; times++) {
      const response = await fetch(run.url + orderPath, { method: 'POST', headers, body });
      assert.equal(response.status, 403);
      assert.equal(((await response.json()) as { cause?: string }).cause, 'account_not_ours');
    }
    await until(() => lines.length > 0);
    assert.deepEqual(lines.length, 1, 'once, however often it happens');
    assert.match(
      lines[0] ?? '',
      /^The account in the request does not belong to the app key\. Send an account_id/,
    );
    assert.ok(!lines[0]?.includes(foreign));
  });
});

/** Of faults that the answer does not tell apart. */
const sameWords = ({ source: a }: RegExp, { source: b }: RegExp) => a.startsWith(b) || b.startsWith(a);

describe('a correct stack', () => {
  test('is healthy, and the local run says nothing', async (t) => {
    const { healthy, words, lines } = await inFrontOf({})(t);
    assert.equal(healthy, true, words);
    assert.match(words, /^All is well/);
    assert.deepEqual(lines, []);
  });

  test('with a token, too', async (t) => {
    const { healthy, lines } = await inFrontOf({ accessToken: 'token' }, { accessToken: 'token' })(t);
    assert.deepEqual([healthy, lines], [true, []]);
  });

  test('a clock that is a little off, within what the upstream takes', async (t) => {
    const { healthy, lines } = await inFrontOf({ clock: () => Date.now() + 100_000 })(t);
    assert.deepEqual([healthy, lines], [true, []]);
  });
});

test('every cause has words of its own, each a sentence and what to do', () => {
  const said = causes.map((cause) => diagnose({ code: 'upstream_auth_failed', cause }));
  for (const diagnosis of said)
    for (const text of Object.values(diagnosis ?? assert.fail('no words')))
      assert.match(text, /^[A-Z][^\n]+\.$/);
  assert.equal(new Set(said.map((one) => one?.sentence)).size, causes.length);
});

test('a request that is the caller’s own fault is none of the stack', () => {
  for (const code of ['invalid_parameter', 'invalid_body', 'upstream_rejected', 'quota_exceeded'] as const) {
    assert.ok(refusalKinds[code]);
    assert.equal(diagnose({ code }), undefined, code);
  }
  assert.equal(diagnose({ code: 'toString' }), undefined);
  assert.equal(
    diagnose({ code: 'upstream_error', cause: 'of a newer gateway' as never })?.sentence,
    'The upstream fails.',
  );
});
