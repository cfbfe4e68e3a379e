import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, test } from 'vitest';
import { startSimulator } from '../../../infra/simulator/index.ts';
import { freePorts } from '../../support/free-ports.ts';
import { judged, launcher } from '../../support/process.ts';
import { twice } from '../../support/twice.ts';
import { codeOf, credentials, send, snapshotTarget } from '../support.ts';

function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [launcher, 'simulate'], {
    env: { ...judged, ...freePorts, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  return { child, output };
}

/** Waits until the simulator has printed where it listens and with which key. */
async function started({ child, output }: ReturnType<typeof run>): Promise<number> {
  while (!/App key: .*\n/.test(output.out)) {
    if (child.exitCode !== null) throw new Error(output.err);
    await Promise.race([once(child.stdout!, 'data'), once(child, 'close')]);
  }
  return Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(output.out)?.[1]);
}

async function exitCode(child: ChildProcess): Promise<unknown> {
  const [code, signal] = await once(child, 'close');
  return code ?? signal;
}

describe('the simulator’s process', { concurrent: true }, () => {
  test('a taken port is one line that names its variable, and exit code 1', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    for (const variable of ['EVENTS_PORT', 'MARKET_STREAM_PORT']) {
      const { child, output } = run({ [variable]: String(port) });
      assert.equal(await exitCode(child), 1);
      assert.equal(output.err, `Port ${port} is taken: set ${variable} to another.\n`);
      assert.equal(output.out, '');
    }
    blocker.close();
  });

  for (const [env, line] of [
    [{ APP_SECRET: 'hush-hush' }, /^APP_SECRET is set but APP_KEY is not.*\n$/],
    [
      { UPSTREAM_PORT: 'x', UPSTREAM_LIMITS: 'all', APP_KEY: 'k', MARKET_STREAM: 'no' },
      /^UPSTREAM_PORT must be .*\nMARKET_STREAM must be on or off, not "no"\.\nAPP_KEY is set but .*\nUPSTREAM_LIMITS: not .*\n$/,
    ],
    [
      { MARKET_STREAM_PORT: '8788', UPSTREAM_PORT: '8788' },
      /^UPSTREAM_PORT and MARKET_STREAM_PORT are both 8788/,
    ],
  ] as const) {
    test(`${JSON.stringify(env)} is a line for each mistake and exit code 1`, async () => {
      const { child, output } = run(env);
      assert.equal(await exitCode(child), 1);
      assert.match(output.err, line);
      assert.ok(!output.err.includes('hush-hush'));
    });
  }

  test('given credentials are accepted, the secret is not printed, and SIGINT ends it with exit code 0', async () => {
    const { appKey: APP_KEY, appSecret: APP_SECRET } = credentials;
    const simulator = run({ APP_KEY, APP_SECRET, NODE_OPTIONS: twice('SIGINT') });
    const port = await started(simulator);
    const reply = await send({ port } as Parameters<typeof send>[0], {
      target: snapshotTarget,
      now: Date.now(),
    });
    assert.equal(reply.status, 200);
    simulator.child.kill('SIGINT');
    assert.equal(await exitCode(simulator.child), 0);
    assert.ok(!simulator.output.out.includes(credentials.appSecret));
    assert.match(simulator.output.out, /^Event stream on 127\.0\.0\.1:\d+ \(gRPC, plaintext\)$/m);
    assert.match(
      simulator.output.out,
      /^Market-data stream on 127\.0\.0\.1:\d+ \(MQTT, plaintext; WebSocket at \/mqtt\)$/m,
    );
    assert.equal(simulator.output.err, '');
  });

  test('a misspelt variable is named, and it starts, without the market-data stream where that is off', async () => {
    const simulator = run({ UPSTREAM_LIMIT: 'published', MARKET_STREAM: 'off' });
    await started(simulator);
    assert.doesNotMatch(simulator.output.out, /Market-data/);
    while (!/Did you mean UPSTREAM_LIMITS\?\n/.test(simulator.output.out))
      await once(simulator.child.stdout, 'data');
    simulator.child.kill('SIGTERM');
    assert.equal(await exitCode(simulator.child), 0);
  });

  test('without credentials a pair is invented and printed, and SIGTERM ends it with exit code 0', async () => {
    const simulator = run({});
    const port = await started(simulator);
    while (!/App secret: .*\n/.test(simulator.output.out)) await once(simulator.child.stdout, 'data');
    const appKey = /App key: (\S+)/.exec(simulator.output.out)![1]!;
    const appSecret = /App secret: (\S+)/.exec(simulator.output.out)![1]!;
    const draft = { target: snapshotTarget, now: Date.now(), appKey, appSecret };
    assert.equal((await send({ port } as Parameters<typeof send>[0], draft)).status, 200);
    simulator.child.kill('SIGTERM');
    assert.equal(await exitCode(simulator.child), 0);
  });
});

test('startSimulator: a taken port rejects with the original error; closing twice is fine', async () => {
  const first = await startSimulator(credentials);
  assert.equal(first.url, `http://127.0.0.1:${first.port}`);
  await assert.rejects(startSimulator({ ...credentials, port: first.port }), { code: 'EADDRINUSE' });
  assert.equal(codeOf(await send(first, { target: snapshotTarget, now: Date.now() })), undefined);
  await Promise.all([first.close(), first.close()]);
  await first.close();
  await assert.rejects(send(first, { target: snapshotTarget }), { code: 'ECONNREFUSED' });
});

test('only the last 10 000 requests are kept, and all are counted', async () => {
  const { ReceivedLog } = await import('../../../infra/simulator/received.ts');
  const log = new ReceivedLog();
  const base = { method: 'GET', target: '/', headers: {}, time: 0, outcome: 'ok', fault: undefined };
  for (let id = 1; id <= 10_005; id++) log.add({ ...base, requestId: `sim-${id}`, body: 'x'.repeat(40_000) });
  assert.equal(log.requests.length, 10_000);
  assert.equal(log.requests[0]?.requestId, 'sim-6');
  assert.equal(log.requests[0]?.body.length, 32_768);
  assert.deepEqual(log.counts, { ok: 10_005 });
});
