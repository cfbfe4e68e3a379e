/** `call` and `watch` against the local run and the simulator. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { jsonLinesOf, linesOf, tableOf } from '../../../infra/commands/watch.ts';
import { type LocalRun, startLocalRun } from '../../../infra/local/local-run.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { orderBody } from '../../support/core.ts';
import { urlFor } from '../../support/listening.ts';
import { launcher } from '../../support/process.ts';
import { run } from '../run.ts';

const keys = { API_KEY: 'canary-api-key', APP_KEY: 'canary-app-key', APP_SECRET: 'canary-app-secret' };
const folder = mkdtempSync(join(tmpdir(), 'countersign-client-'));
let gateway: LocalRun;

beforeAll(async () => {
  for (const [name, text] of Object.entries(keys)) vi.stubEnv(name, text);
  const settings = readSettings({ ...keys, TRADE_EVENTS: 'off' });
  gateway = await startLocalRun({ ...settings, port: 0, upstream: { simulatorPort: 0 } });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await gateway?.close();
  rmSync(folder, { recursive: true });
});

test('an operation through the gateway and at the upstream itself: the answer as it came', async () => {
  for (const where of [
    ['--gateway', gateway.url],
    ['--upstream', gateway.upstreamUrl],
  ]) {
    const words = ['call', 'getStockSnapshots', 'symbols=AAPL,MSFT', 'category=US_STOCK', ...where];
    const { code, out, err } = await run(words);
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(
      JSON.parse(out).map(({ symbol }: { symbol: string }) => symbol),
      ['AAPL', 'MSFT'],
    );
    const { status, data } = JSON.parse((await run([...words, '--json'])).out);
    assert.deepEqual([status, data.length], [200, 2]);
  }
});

test('an order through the gateway alone, and a repetition of it is told to be one', async () => {
  const account = gateway.simulator?.accounts[0]?.account_id ?? '';
  const body = join(folder, 'order.json');
  writeFileSync(body, JSON.stringify({ ...JSON.parse(orderBody()), account_id: account }));
  const words = ['call', 'placeOrder', '--body', body, '--gateway', gateway.url, '--json'];
  const first = await run(words);
  assert.equal(first.code, 0, first.err);
  const again = await run(words);
  assert.deepEqual([JSON.parse(first.out).isReplayed, JSON.parse(again.out).isReplayed], [false, true]);
  assert.equal(gateway.simulator?.orders.length, 1);
  const direct = await run(['call', 'placeOrder', '--body', body, '--upstream', gateway.upstreamUrl]);
  assert.equal(direct.code, 2);
  assert.match(direct.err, /^placeOrder has a side effect: call it by --gateway/);
  assert.equal(gateway.simulator?.orders.length, 1);
});

test('what is wrong is one line', async () => {
  const symbols = ['symbols=AAPL', 'category=US_STOCK'];
  for (const [words, code, line] of [
    [
      ['getStockSnapshot', '--gateway', gateway.url],
      2,
      /^There is no operation of that id: .* Did you mean getStockSnapshots\?/,
    ],
    [['getStockSnapshots', ...symbols], 2, /^call needs either --gateway or --upstream/],
    [['getStockSnapshots', 'AAPL', '--gateway', gateway.url], 2, /takes name=value/],
    [['checkToken', 'token=canary', '--upstream', gateway.upstreamUrl], 2, /^A token is never an argument/],
    [['getStockSnapshots', '--gateway', gateway.url], 1, /^getStockSnapshots: not sent; /],
    [
      ['getStockSnapshots', 'symbols=NOSUCHSYMBOL', 'category=US_STOCK', '--gateway', gateway.url],
      1,
      /^getStockSnapshots: 4\d\d /,
    ],
    [['getStockSnapshots', ...symbols, '--gateway', 'http://127.0.0.1:9'], 1, /^getStockSnapshots: /],
  ] as const) {
    const said = await run(['call', ...words]);
    assert.deepEqual([said.code, said.out], [code, ''], said.err);
    assert.match(said.err, line);
    assert.ok(!/canary/.test(said.err) && said.err.indexOf('\n') === said.err.length - 1, said.err);
  }
});

test('a URL to which nothing can be sent is a wrong command line', async () => {
  const call = ['call', 'getStockSnapshots', 'symbols=AAPL', 'category=US_STOCK'];
  for (const words of [
    [...call, '--gateway'],
    [...call, '--upstream'],
    ['watch', 'AAPL', '--gateway'],
  ])
    for (const [url, sentence] of [
      ['http://api.example.com', 'must be https, or http on loopback, '],
      ['https://user@api.example.com', 'must be https, or http on loopback, without credentials, '],
      ...(words[0] === 'call'
        ? [['https://api.example.com/openapi', 'it ends with /openapi, '] as const]
        : []),
    ] as const) {
      const { code, out, err } = await run([...words, url]);
      assert.deepEqual([code, out], [2, ''], err);
      assert.ok(err.startsWith(words.at(-1) ?? '') && err.includes(sentence), err);
      assert.equal(err.indexOf('\n'), err.length - 1);
    }
});

test('watch follows the stream until it is interrupted', async (t) => {
  const words = ['watch', 'AAPL', 'MSFT', '--gateway', gateway.url, '--json'];
  const child = spawn(process.execPath, [launcher, ...words], {
    env: { PATH: process.env.PATH, ...keys },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  for await (const chunk of child.stdout) {
    out += chunk;
    if (out.split('\n').length > 2) break;
  }
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGINT');
  assert.equal(await ended, 0);
  const [first, second] = out.split('\n').map((line) => line && JSON.parse(line).symbol);
  assert.deepEqual([first, second].sort(), ['AAPL', 'MSFT']);
});

test('a table on a terminal, lines otherwise', () => {
  const record = { price: '248.43', bid: '248.41', ask: '248.45', volume: '1958526' };
  const update = {
    quotes: new Map([['AAPL', { symbol: 'AAPL', state: 'current' as const, record, at: 1 }]]),
    changed: new Set(['AAPL']),
    isConnected: true,
    ageMs: (symbol: string) => (symbol === 'AAPL' ? 1540 : undefined),
  };
  assert.deepEqual(tableOf(update, ['AAPL', 'MSFT']), [
    'symbol  price   bid     ask     volume   state    age',
    'AAPL    248.43  248.41  248.45  1958526  current  1.5 s',
    'MSFT    -       -       -       -        waiting  -',
    '',
  ]);
  assert.deepEqual(linesOf(update), ['AAPL 248.43 248.41 248.45 1958526 current 1.5 s']);
  assert.deepEqual(
    jsonLinesOf(update).map((line) => JSON.parse(line).record.price),
    ['248.43'],
  );
  const lost = { ...update, isConnected: false };
  assert.match(tableOf(lost, ['AAPL'])[2] ?? '', /connection was lost/);
  assert.match(linesOf(lost)[0] ?? '', /connection was lost/);
});

/** Sets the title of a terminal, climbs over what stands there, forges a line, and speaks to a CI. */
const hostile = '::error::a\u001b]0;title\u0007\u009b2K\r\nforged\u2028line \u202e##[add-path]b ##vso[task]c';

/** As JSON may have it in a text. */
const unescaped = [...hostile].filter((char) => char >= ' ').join('');

/** @param expected how many lines it has, each with its end */
function isHarmless(text: string, expected: number): void {
  assert.doesNotMatch(text, /(?!\n)\p{Cc}|[\u2028\u202e]|^\s*::|##(vso)?\[/mu);
  assert.equal(text.split('\n').length - 1, expected, text);
}

test('what others write moves no cursor, begins no line, and is no command of a CI', async (t) => {
  const refusal = { code: 'upstream_rejected', detail: hostile, message: hostile, request_id: hostile };
  const url = await urlFor(
    t,
    createServer(({ url }, response) => {
      if (url?.endsWith('/health')) response.end('{"status":"ok"}');
      else if (url?.endsWith('/config')) response.end('{"token_check_enabled":false}');
      else if (url?.includes('symbol=')) response.end(`[ "${unescaped}" ]\r\n`);
      else
        response.writeHead(422, { 'content-type': 'application/problem+json' }).end(JSON.stringify(refusal));
    }),
  );
  const words = ['symbols=AAPL', 'category=US_STOCK', '--gateway', url];
  const refused = await run(['call', 'getStockSnapshots', ...words]);
  assert.equal(refused.code, 1);
  isHarmless(refused.err, 1);
  const smoked = await run(['smoke', url]);
  assert.equal(smoked.code, 1);
  isHarmless(smoked.out + smoked.err, 1);
  const answered = await run([
    'call',
    'getStockQuotes',
    'symbol=AAPL',
    'category=US_STOCK',
    '--gateway',
    url,
  ]);
  isHarmless(answered.out, 2);
  assert.deepEqual(JSON.parse(answered.out), [unescaped]);
  const record = { price: hostile };
  const update = {
    quotes: new Map([['AAPL', { record, state: 'live' as const }]]),
    changed: new Set(['AAPL']),
    ageMs: () => 0,
    isConnected: true,
    cause: hostile,
  };
  isHarmless(`${tableOf(update as never, ['AAPL']).join('\n')}\n`, 3);
  isHarmless(`${linesOf(update as never).join('\n')}\n`, 1);
});

test('a command prints by one printer', () => {
  const folder = new URL('../../../infra/commands/', import.meta.url);
  const others = readdirSync(folder).filter(
    (name) =>
      name.endsWith('.ts') &&
      /console\.|std(out|err)\.write/.test(readFileSync(new URL(name, folder), 'utf8')),
  );
  // Logs of a run, and the cursor of a terminal as bytes.
  assert.deepEqual(others, ['print.ts', 'start.ts', 'watch.ts']);
});
