/** `countersign doctor`: each thing that may be wrong is found, named and given a remedy. */

import assert from 'node:assert/strict';
import { type TestContext, test, vi } from 'vitest';
import { examine } from '../../../infra/commands/doctor.ts';
import { type SimulatorOptions, startSimulator } from '../../../infra/simulator/index.ts';
import { closedPort } from '../../support/closed-port.ts';
import { startStackStub } from '../stack-stub.ts';

const pair = { appKey: 'canary-app-key', appSecret: 'canary-app-secret' };
const given = { APP_KEY: pair.appKey, APP_SECRET: pair.appSecret };

async function upstreamOf(t: TestContext, options: Partial<SimulatorOptions> = {}): Promise<string> {
  const simulator = await startSimulator({ ...pair, port: 0, ...options });
  t.onTestFinished(() => simulator.close());
  return simulator.url;
}

const said = (findings: Awaited<ReturnType<typeof examine>>) => {
  const text = findings.map(({ verdict, words }) => `${verdict} ${words}`).join('\n');
  assert.ok(!text.includes('canary'), text);
  return text;
};

test('of the environment: what is well, and each fault', async (t) => {
  const url = await upstreamOf(t);
  const withTokens = await upstreamOf(t, { accessToken: 'canary-standing-token' });
  for (const [env, last] of [
    [{}, /^unknown Nothing else was looked at: /],
    [{ ...given, UPSTREAM_BASE_URL: 'ftp://a' }, /^fault UPSTREAM_BASE_URL: /],
    [
      { ...given, UPSTREAM_BASE_URL: 'https://api.example.com/openapi' },
      /^fault UPSTREAM_BASE_URL: it ends with \/openapi, .*: write https:\/\/api\.example\.com\.$/,
    ],
    [{ UPSTREAM_BASE_URL: url }, /^fault The secret is empty/],
    [{ ...given, UPSTREAM_BASE_URL: url }, /^well The upstream wants no access token\.$/],
    [{ ...given, APP_SECRET: 'canary-other', UPSTREAM_BASE_URL: url }, /^fault The app secret is wrong: /],
    [
      { ...given, APP_KEY: 'canary-other', UPSTREAM_BASE_URL: url },
      /^fault The upstream does not know the app key/,
    ],
    [
      { ...given, UPSTREAM_BASE_URL: `http://127.0.0.1:${await closedPort()}` },
      /^fault Nothing listens at the upstream/,
    ],
    [
      { ...given, UPSTREAM_BASE_URL: withTokens },
      /^fault The upstream asks for an access token, and there is none/,
    ],
    [
      { ...given, UPSTREAM_BASE_URL: withTokens, ACCESS_TOKEN: 'canary-token' },
      /^fault The access token is invalid: /,
    ],
  ] as const)
    assert.match(
      said(await examine(undefined, env))
        .split('\n')
        .at(-1) ?? '',
      last,
    );
});

test('an upstream that refuses for another reason than the key is not called another server', async (t) => {
  const simulator = await startSimulator({ ...pair, port: 0 });
  t.onTestFinished(() => simulator.close());
  const told = async (status: number, error_code: string) => {
    simulator.bring(() => ({ kind: 'status', status, body: { error_code } }));
    return said(await examine(undefined, { ...given, UPSTREAM_BASE_URL: simulator.url }))
      .split('\n')
      .at(-1);
  };
  assert.match(
    (await told(429, 'TOO_MANY_REQUESTS')) ?? '',
    /^fault The upstream limits requests at present \(429\)\./,
  );
  assert.equal(await told(417, 'INVALID_REQUEST'), 'fault The upstream refuses: 417 INVALID_REQUEST.');
  assert.match((await told(417, 'canary 4711')) ?? '', /^fault .* something that is not its interface\./);
});

test('an answer that begins and does not end is late', async (t) => {
  const asked = new Promise<void>((resolve) => {
    vi.stubGlobal('fetch', async () => {
      resolve();
      return new Response(new ReadableStream());
    });
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  t.onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const findings = examine(undefined, { ...given, UPSTREAM_BASE_URL: 'https://api.example.com' });
  await asked;
  await new Promise(setImmediate);
  vi.advanceTimersByTime(10_000);
  assert.match(
    said(await findings)
      .split('\n')
      .at(-1) ?? '',
    /^fault The upstream gives no answer in time/,
  );
});

test('of the market stream: whether its broker knows the key, and the upstream its session', async (t) => {
  const streaming = async () => {
    const simulator = await startSimulator({ ...pair, port: 0, marketStream: {} });
    t.onTestFinished(() => simulator.close());
    assert.ok(simulator.marketStream);
    return { url: simulator.url, stream: simulator.marketStream };
  };
  const [own, another] = [await streaming(), await streaming()];
  const closed = await closedPort();
  const told = async (streamUrl: string) =>
    said(
      await examine(undefined, { ...given, UPSTREAM_BASE_URL: own.url, MARKET_STREAM_URL: streamUrl }),
    ).split('\n');
  const lastOf = async (streamUrl: string) => (await told(streamUrl)).at(-1) ?? '';
  assert.equal(
    await lastOf(own.stream.url),
    'well The broker of the market stream accepts the app key, and the upstream knows its session.',
  );
  assert.match(
    await lastOf(another.stream.url),
    /^fault .* broker and base URL are of different environments\./,
  );
  assert.match(
    await lastOf(`mqtt://127.0.0.1:${closed}`),
    /^fault The broker of the market stream cannot be reached\. Nothing listens/,
  );
  assert.match(
    await lastOf('mqtt://quotes.example'),
    /^fault The URL of the market stream cannot be used: it /,
  );
  own.stream.bring({ kind: 'refuse', code: 104 });
  assert.match(
    await lastOf(own.stream.url),
    /^fault The market stream’s broker refuses the app key \(code 104\)/,
  );
  own.stream.bring({ kind: 'refuse', code: 105 });
  assert.match(await lastOf(own.stream.url), /^unknown .* as many connections of the app key as it allows/);
  own.stream.bring({ kind: 'refuse', code: 101 });
  assert.match(await lastOf(own.stream.url), /^fault .* refuses the connection with code 101\./);
  assert.equal((await told('')).at(-1), 'well The upstream wants no access token.');
});

test('of a stack: credentials, stack, secret and upstream, one after the other', async (t) => {
  const target = { stackName: 'Countersign-test', options: '' };
  const simulator = await startSimulator({ ...pair, port: 0, marketStream: {} });
  t.onTestFinished(() => simulator.close());
  const { url: upstream, marketStream } = simulator;
  assert.ok(marketStream);
  const secret = JSON.stringify({ app_key: pair.appKey, app_secret: pair.appSecret });
  const examined = async (options: Parameters<typeof startStackStub>[1]) => {
    const { env } = await startStackStub(t, options);
    for (const [name, text] of Object.entries(env)) vi.stubEnv(name, text);
    return said(await examine(target))
      .split('\n')
      .slice(1);
  };
  assert.deepEqual(await examined({ secret, upstream }), [
    'well AWS credentials are there, and the Region is eu-central-1.',
    'well The stack Countersign-test is deployed.',
    'well The secret has an app key and an app secret.',
    'well The upstream accepts the signature.',
    'well The upstream wants no access token.',
  ]);
  const { url } = marketStream;
  assert.match(
    (await examined({ secret, upstream, marketStream: url })).at(-1) ?? '',
    /^well The broker of the market stream accepts the app key/,
  );
  assert.match(
    (await examined({ upstream })).at(-1) ?? '',
    /^fault The secret is empty\. Pipe .* into countersign secret/,
  );
  assert.match(
    (await examined({ secret, upstream, denied: ['GetSecretValue'] })).at(-1) ?? '',
    /^fault The secret of Countersign-test cannot be read: AccessDeniedException\.$/,
  );
  vi.unstubAllEnvs();
});
