import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, type TestContext, test } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { accountsPath, orderBody, orderPath } from '../support/core.ts';

const main = fileURLToPath(new URL('../../infra/local/main.ts', import.meta.url));

function runMain(t: TestContext, env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    env: { PATH: process.env.PATH, PORT: '0', UPSTREAM_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.onTestFinished(() => void child.kill('SIGKILL'));
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  const ended = once(child, 'close').then(([code, signal]): unknown => code ?? signal);
  return {
    child,
    output,
    ended,
    /** Waits until the process has printed this, or has ended. */
    async printed(pattern: RegExp, stream: 'out' | 'err' = 'out'): Promise<RegExpExecArray> {
      const source = stream === 'out' ? child.stdout : child.stderr;
      for (;;) {
        const match = pattern.exec(output[stream]);
        if (match) return match;
        if (child.exitCode !== null) assert.fail(`ended with ${child.exitCode}: ${output.err}`);
        await Promise.race([once(source, 'data'), ended]);
      }
    },
  };
}

async function blockedPort(t: TestContext): Promise<string> {
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  t.onTestFinished(() => void blocker.close());
  return String((blocker.address() as AddressInfo).port);
}

describe('npm start', { concurrent: true }, () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`says how to call it, answers what it printed, and ends with ${signal}`, async (t) => {
      const { child, output, printed, ended } = runMain(t, {});
      await printed(/Ctrl-C ends it\.\n/);
      const calls = [...output.out.matchAll(/^ {2}curl (?:-H '([^:']+): ([^']+)' )?'([^']+)'$/gm)];
      assert.equal(calls.length, 2);
      for (const [, name, value, url] of calls) {
        const response = await fetch(url!, { headers: name ? { [name]: value! } : {} });
        assert.equal(response.status, 200, url);
        assert.ok(Array.isArray(await response.json()));
      }
      const [, url] = await printed(/^Countersign on (http:\/\/127\.0\.0\.1:\d+)$/m);
      const [, key] = await printed(/^API key of this run: (\S+)$/m);
      assert.ok(calls[0]?.[3]?.startsWith(`${url}/`));
      assert.equal(calls[0]?.[2], key);
      await printed(/^Upstream: http:\/\/127\.0\.0\.1:\d+ \(simulated\)$/m);
      await printed(
        /^Open groups: accounts, orders, instruments, market-data, screeners, watchlists, fundamentals$/m,
      );
      await printed(
        /^\(in front of the simulator all may be open; deployed, those of one account are closed\)$/m,
      );
      const [, page, keyOfPage] = await printed(/^All operations, .*: (http:\S+\/docs)#key=(\S+)$/m);
      assert.equal(page, `${url}/docs`);
      assert.equal(keyOfPage, key);
      // Without the query: what a client asked for is not the log's business.
      await printed(/^GET \/openapi\/market-data\/stock\/snapshot 200 \d+ ms$/m);
      await printed(/^GET \/trading\/accounts\/list 200 \d+ ms$/m);

      child.kill(signal);
      assert.equal(await ended, 0);
      assert.equal(output.err, '');
    });
  }
});

describe('npm start', { concurrent: true }, () => {
  for (const [name, env, line] of [
    ['half a pair of credentials', { APP_KEY: 'hush-hush' }, /^APP_KEY is set but APP_SECRET is not.*\n$/],
    ['the other half', { APP_SECRET: 'hush-hush' }, /^APP_SECRET is set but APP_KEY is not.*\n$/],
    [
      'an upstream without credentials',
      { UPSTREAM_BASE_URL: 'https://api.example.com' },
      /^UPSTREAM_BASE_URL is set: .*\n$/,
    ],
    [
      'an upstream without TLS elsewhere',
      { UPSTREAM_BASE_URL: 'http://api.example.com', APP_KEY: 'k', APP_SECRET: 'hush-hush' },
      /^UPSTREAM_BASE_URL: http is for loopback addresses only; use https\.\n$/,
    ],
    ['a group that does not exist', { OPEN_GROUPS: 'auth' }, /^OPEN_GROUPS has no group "auth".*\n$/],
  ] as const) {
    test(`with ${name} is one line and exit code 1`, async (t) => {
      const { output, ended } = runMain(t, env);
      assert.equal(await ended, 1);
      assert.match(output.err, line);
      assert.equal(output.out, '');
      assert.ok(!output.err.includes('hush-hush'));
    });
  }

  for (const variable of ['PORT', 'UPSTREAM_PORT'] as const) {
    test(`with a taken ${variable} is one line and exit code 1`, async (t) => {
      const port = await blockedPort(t);
      const { output, ended } = runMain(t, { [variable]: port });
      assert.equal(await ended, 1);
      assert.equal(output.err, `Port ${port} is taken: set ${variable} to another.\n`);
      assert.equal(output.out, '');
    });
  }
});

describe('npm start', { concurrent: true }, () => {
  test('before an upstream that is down says so in one line, and goes on', async (t) => {
    const base = `http://127.0.0.1:${await closedPort()}`;
    const env = {
      UPSTREAM_BASE_URL: base,
      APP_KEY: 'k',
      APP_SECRET: 's',
      API_KEY: 'mine',
      OPEN_GROUPS: 'all',
    };
    const { child, output, printed, ended } = runMain(t, env);
    await printed(/\n/, 'err');
    assert.equal(output.err, `Nothing answers at ${base}: calls will be answered 502 until it is up.\n`);
    await printed(/^Warning: accounts, orders, watchlists belong to one account at the upstream/m);
    const [, url] = await printed(/^Countersign on (\S+)$/m);
    const response = await fetch(`${url}${accountsPath}`, { headers: { 'x-api-key': 'mine' } });
    assert.equal(response.status, 502);
    assert.equal(((await response.json()) as { code: string }).code, 'upstream_unreachable');
    await printed(/^ {2}upstream_unreachable: upstream answered nothing$/m);
    child.kill('SIGINT');
    assert.equal(await ended, 0);
  });

  test('names the cause when another upstream refuses, once, and what to do', async (t) => {
    const simulator = await startSimulator({ appKey: 'k', appSecret: 's', accessToken: 'another' });
    t.onTestFinished(() => simulator.close());
    const { child, printed, ended, output } = runMain(t, {
      UPSTREAM_BASE_URL: simulator.url,
      APP_KEY: 'k',
      APP_SECRET: 's',
      ACCESS_TOKEN: 'feed'.repeat(8),
      API_KEY: 'mine',
    });
    const [, url] = await printed(/^Countersign on (\S+)$/m);
    for (const symbol of ['AAPL', 'MSFT']) {
      const target = `/openapi/market-data/stock/quotes?symbol=${symbol}&category=US_STOCK`;
      const response = await fetch(url + target, { headers: { 'x-api-key': 'mine' } });
      assert.equal(((await response.json()) as { cause: string }).cause, 'token_refused');
    }
    await printed(/\n/, 'err');
    child.kill('SIGINT');
    assert.equal(await ended, 0);
    assert.match(output.err, /^The access token is invalid: .* Run npm run token: .*ACCESS_TOKEN\.\n$/);
    assert.ok(!(output.out + output.err).includes('feedfeed'));
  });

  test('opens before a real upstream only what belongs to no account', async (t) => {
    const simulator = await startSimulator({ appKey: 'k', appSecret: 's' });
    t.onTestFinished(() => simulator.close());
    const { child, printed, ended, output } = runMain(t, {
      UPSTREAM_BASE_URL: simulator.url,
      APP_KEY: 'k',
      APP_SECRET: 's',
      API_KEY: 'mine',
    });
    await printed(/^Open groups: instruments, market-data, screeners, fundamentals$/m);
    const [, url] = await printed(/^Countersign on (\S+)$/m);
    await printed(/Ctrl-C ends it\.\n/);
    for (const [target, status] of [
      [accountsPath, 404],
      ['/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK', 200],
    ] as const)
      assert.equal((await fetch(url + target, { headers: { 'x-api-key': 'mine' } })).status, status);
    assert.ok(!output.out.includes('Warning'));
    child.kill('SIGINT');
    assert.equal(await ended, 0);
    assert.equal(output.err, '');
  });
});

describe('npm start', { concurrent: true }, () => {
  test('prints the secret nowhere, with any response of the upstream', async (t) => {
    const secret = 'QzCanarySecretXv0123456789abcdefghijklmn';
    const statuses = [401, 417, 429, 500, 200];
    let answered = 0;
    const simulator = await startSimulator({
      appKey: 'k',
      appSecret: secret,
      fault: () => {
        const status = statuses[answered++ % statuses.length]!;
        return status === 200
          ? { kind: 'drop' }
          : {
              kind: 'status',
              status,
              headers: { 'x-request-id': secret },
              body: { error_code: `${'C'.repeat(80)}${secret}`, message: `${'m'.repeat(480)}${secret}` },
            };
      },
    });
    t.onTestFinished(() => simulator.close());
    const { child, printed, ended, output } = runMain(t, {
      UPSTREAM_BASE_URL: simulator.url,
      APP_KEY: 'k',
      APP_SECRET: secret,
      API_KEY: 'mine',
      OPEN_GROUPS: 'all',
    });
    const [, url] = await printed(/^Countersign on (\S+)$/m);
    await printed(/Ctrl-C ends it\.\n/);
    let received = '';
    const headers = { 'x-api-key': 'mine', 'content-type': 'application/json' };
    for (let round = 0; round < 2 * statuses.length; round++) {
      for (const init of [{}, { method: 'POST', body: orderBody() }]) {
        const response = await fetch(`${url}${init.method ? orderPath : accountsPath}`, { headers, ...init });
        assert.notEqual(response.status, 200);
        received += JSON.stringify([...response.headers]) + (await response.text());
      }
    }
    child.kill('SIGTERM');
    assert.equal(await ended, 0);
    assert.match(output.out, /upstream_rejected: upstream answered 417/);
    for (const text of [received, output.out, output.err])
      for (let at = 0; at + 8 <= secret.length; at++)
        assert.ok(!text.includes(secret.slice(at, at + 8)), text);
  });
});
