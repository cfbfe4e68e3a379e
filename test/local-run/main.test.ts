import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, type TestContext, test } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { accountsPath, orderBody, orderPath } from '../support/core.ts';
import { each } from '../support/each.ts';
import { freePorts } from '../support/free-ports.ts';
import { judged, launcher, sourceLauncher } from '../support/process.ts';

function runMain(t: TestContext, env: Readonly<Record<string, string>>, from = launcher) {
  const child = spawn(process.execPath, [from, 'start'], {
    env: { ...judged, ...freePorts, ...env },
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
    /** What the process has printed already: an end of the test where it has not, instead of a wait. */
    shown: (pattern: RegExp): RegExpExecArray =>
      pattern.exec(output.out) ?? assert.fail(`${pattern} is not in:\n${output.out}`),
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
  test('begins, from its sources, while pages of an earlier run ask on', async (t) => {
    const port = String(await closedPort());
    const { printed } = runMain(t, { PORT: port }, sourceLauncher);
    let isOver = false;
    const ask = async () => {
      while (!isOver) {
        await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
        await delay(1);
      }
    };
    const asking = [ask(), ask(), ask()];
    await printed(/^GET \/health 200 /m);
    await printed(/Ctrl-C ends it\.\n/);
    isOver = true;
    await Promise.all(asking);
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`says how to call it, answers what it printed, and ends with ${signal}`, async (t) => {
      const { child, output, printed, shown, ended } = runMain(t, {
        OPEN_GROPUS: 'orders',
        NODE_NO_WARNINGS: '0',
      });
      await printed(/Ctrl-C ends it\.\n/);
      shown(/^OPEN_GROPUS is set, and nothing here reads it\. Did you mean OPEN_GROUPS\?$/m);
      const calls = [...output.out.matchAll(/^ {2}curl (?:-H '([^:']+): ([^']+)' )?'([^']+)'$/gm)];
      assert.equal(calls.length, 2);
      for (const [, name, value, url] of calls) {
        const response = await fetch(url!, { headers: name ? { [name]: value! } : {} });
        assert.equal(response.status, 200, url);
        assert.ok(Array.isArray(await response.json()));
      }
      const [, url] = shown(/^Countersign on (http:\/\/127\.0\.0\.1:\d+)$/m);
      const [, key] = shown(/^API key of this run: (\S+)$/m);
      assert.ok(calls[0]?.[3]?.startsWith(`${url}/`));
      assert.equal(calls[0]?.[2], key);
      shown(/^Upstream: http:\/\/127\.0\.0\.1:\d+ \(simulated\)$/m);
      shown(
        /^Open groups: accounts, orders, instruments, market-data, screeners, watchlists, fundamentals$/m,
      );
      shown(/^\(in a deployment, these groups stay closed .* to users: accounts, orders, watchlists\)$/m);
      shown(/^ {2}ada \(also with the API key alone\): account \w{26}; the watchlists$/m);
      const [, others] = shown(/^ {2}ben: account (\w{26})$/m);
      const [, form, issuer] = shown(/^ {2}TOKEN=\$\(curl .* -d '(\S+)' '(\S+)'\)$/m);
      const headers = { accept: 'text/plain', 'content-type': 'application/x-www-form-urlencoded' };
      const token = await (await fetch(issuer!, { method: 'POST', headers, body: form! })).text();
      const [, list] = shown(/^ {2}curl -H .* -H "authorization: Bearer \$TOKEN" '(\S+)'$/m);
      const asOther = await fetch(list!, {
        headers: { 'x-api-key': key!, authorization: `Bearer ${token}` },
      });
      assert.deepEqual(each((await asOther.json()) as { account_id: string }[], 'account_id'), [others]);
      const [, entry, events] = shown(/^ {2}curl -H \S+ \S+ -d '(.*)' '(http:\S+\/_events)'$/m);
      const reply = await fetch(events!, {
        method: 'POST',
        headers: { 'x-api-key': key! },
        body: entry!.replace("'$(date +%s)'", '1795370000'),
      });
      const { replies } = (await reply.json()) as { replies: { detail: { quotes: object[] } }[] };
      assert.equal(replies[0]?.detail.quotes.length, 2);
      const [, target] = shown(/^ {2}curl -sN -H \S+ \S+ '(http:\S+\/events\/stream)' \| head -n 20 &$/m);
      const follower = await fetch(target!, { headers: { 'x-api-key': key! } });
      assert.equal(follower.status, 200);
      const [, order, placing] = shown(/^ {2}curl .* application\/json' -d '(.*)' '(http:\S+)'$/m);
      const placed = await fetch(placing!, {
        method: 'POST',
        headers: { 'x-api-key': key!, 'content-type': 'application/json' },
        body: order!.replace("'$(date +%s)'", '1795370000'),
      });
      assert.equal(placed.status, 200);
      await printed(
        /^OrderChanged (FINAL_FILLED )?AAPL try-1795370000 FILLED filled 2( \(found by a read\))?$/m,
      );
      assert.doesNotMatch(output.err, /MaxListenersExceededWarning/);
      const [, forGenerators] = shown(/^For client generators: (http:\S+) \(/m);
      assert.equal((await fetch(forGenerators!)).status, 200);
      shown(new RegExp(`^Reference of all operations, .*: ${url}/docs#key=${key}$`, 'm'));
      shown(new RegExp(`^See all of it at work: ${url}/#key=${key}$`, 'm'));
      // Without the query: what a client asked for is not the log's business.
      await printed(/^GET \/openapi\/market-data\/stock\/snapshot 200 \d+ ms$/m);
      await printed(/^GET \/trading\/accounts\/list 200 \d+ ms$/m);
      await printed(/^POST \/issuer\/token 200 \d+ ms$/m);
      await printed(/^POST \/_events 200 \d+ ms$/m);
      const log = output.out.slice(output.out.indexOf('Ctrl-C'));
      const accountOfOrder = JSON.parse(order!.replace("'$(date +%s)'", '')).account_id as string;
      for (const secret of [key!, token, others!, accountOfOrder, 'ben']) assert.ok(!log.includes(secret));

      child.kill(signal);
      assert.equal(await ended, 0);
      // On a busy machine, the stream can be silent for the four seconds after which the run says so.
      assert.equal(output.err.replaceAll('market stream mute.\n', ''), '');
      // A follower does not hold up the end, and learns of it.
      assert.match(await follower.text(), /^event: change\ndata: .*"client_order_id":"try-1795370000"/m);
    });
  }
});

describe('npm start', { concurrent: true }, () => {
  for (const [name, env, line] of [
    ['half a pair of credentials', { APP_SECRET: 'hush-hush' }, /^APP_SECRET is set but APP_KEY is not.*\n$/],
    [
      'several mistakes',
      { OPEN_GROUPS: 'auth', CACHE: 'no', APP_SECERT: 'hush-hush' },
      /^OPEN_GROUPS has no group "auth".*\nCACHE must be on or off.*\nAPP_SECERT is set, .* Did you mean APP_SECRET\?\n$/,
    ],
  ] as const) {
    test(`with ${name} is a line for each mistake and exit code 1`, async (t) => {
      const { output, ended } = runMain(t, env);
      assert.equal(await ended, 1);
      assert.match(output.err, line);
      assert.equal(output.out, '');
      assert.ok(!output.err.includes('hush-hush'));
    });
  }

  test('with all ports taken is one line that names them', async (t) => {
    const [PORT = '', UPSTREAM_PORT = '', EVENTS_PORT = ''] = await Promise.all(
      [1, 2, 3].map(() => blockedPort(t)),
    );
    const { output, ended } = runMain(t, { PORT, UPSTREAM_PORT, EVENTS_PORT });
    assert.equal(await ended, 1);
    assert.equal(
      output.err,
      `Ports ${PORT}, ${UPSTREAM_PORT} and ${EVENTS_PORT} are taken, perhaps by another run: end it, or set PORT, UPSTREAM_PORT and EVENTS_PORT to others.\n`,
    );
  });

  for (const variable of ['PORT', 'EVENTS_PORT'] as const) {
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
      USERS: '{"zoe":["*"],"ada":["CANARY-1","CANARY-2"],"ben":["CANARY-3"],"cleo":[]}',
    };
    const { child, output, printed, ended } = runMain(t, env);
    await printed(/\n/, 'err');
    assert.equal(output.err, `Nothing answers at ${base}: calls will be answered 502 until it is up.\n`);
    await printed(
      /^Warning: accounts, orders, watchlists belong to your accounts at the upstream, and the API key of this run opens/m,
    );
    await printed(/^ {2}zoe \(also with the API key alone\): every account of the app key; the watchlists$/m);
    await printed(/^ {2}ada: 2 accounts of USERS\n {2}ben: 1 account of USERS\n {2}cleo: nothing$/m);
    const [, url] = await printed(/^Countersign on (\S+)$/m);
    const response = await fetch(`${url}${accountsPath}`, { headers: { 'x-api-key': 'mine' } });
    assert.equal(response.status, 502);
    assert.equal(((await response.json()) as { code: string }).code, 'upstream_unreachable');
    await printed(/^ {2}upstream_unreachable: upstream answered nothing$/m);
    const id = response.headers.get('x-request-id');
    await printed(
      new RegExp(
        `^ {2}upstream_unreachable: The upstream cannot be reached.*\n {2}request ${id}: ${url}/#request=${id}$`,
        'm',
      ),
    );
    assert.ok(!(output.out + output.err).includes('CANARY'));
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
    assert.match(output.err, /^The access token is invalid: .* Run countersign token: .*ACCESS_TOKEN\.\n$/);
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
      TRADING_LIMITS: 'none',
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
