import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { codeOf, credentials, linesFor, sendRaw, snapshotPath, snapshotTarget, testTime } from './support.ts';

const get = (target: string) => `GET ${target} HTTP/1.1`;

/** What an HTTP client would put right before sending it. */
describe('bytes on the wire', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ ...credentials, clock: () => testTime });
  });
  afterAll(() => simulator.close());

  const repeatable = [
    'host',
    'x-app-key',
    'x-signature',
    'x-signature-algorithm',
    'x-signature-version',
    'x-signature-nonce',
    'x-timestamp',
    'x-version',
  ];
  for (const name of repeatable) {
    test(`two lines of ${name} are refused, even alike`, async () => {
      const lines = linesFor({ target: snapshotTarget });
      const line = lines.find((one) => one.startsWith(`${name}:`))!;
      const reply = await sendRaw(simulator, [get(snapshotTarget), ...lines, line]);
      assert.deepEqual([reply.status, codeOf(reply)], [400, 'ILLEAGAL_PARAMETER']);
      assert.ok(reply.text.includes(name));
    });
  }

  test('no Host header is refused', async () => {
    const lines = linesFor({ target: snapshotTarget, change: { host: undefined } });
    const reply = await sendRaw(simulator, [get(snapshotTarget), ...lines]);
    assert.deepEqual([reply.status, codeOf(reply)], [400, 'ILLEAGAL_PARAMETER']);
  });

  for (const target of [
    `${snapshotPath}?symbols=%`,
    `${snapshotPath}?symbols=%2&category=US_STOCK`,
    `${snapshotPath}?%C3=1`,
  ]) {
    test(`a malformed escape is refused: ${target.slice(snapshotPath.length)}`, async () => {
      const reply = await sendRaw(simulator, [get(target), ...linesFor({ target, pairs: [] })]);
      assert.deepEqual([reply.status, codeOf(reply)], [400, 'ILLEAGAL_PARAMETER']);
    });
  }

  const spellings = [
    'symbols=AAPL,MSFT&category=US_STOCK',
    'symbols=AAPL%2CMSFT&category=US_STOCK',
    'symbols=AAPL%2cMSFT&category=US%5fSTOCK',
    'category=US_STOCK&symbols=%41APL,MSFT',
  ];
  for (const query of spellings) {
    test(`the same values may be escaped in other ways: ${query}`, async () => {
      const target = `${snapshotPath}?${query}`;
      const pairs = [
        ['symbols', 'AAPL,MSFT'],
        ['category', 'US_STOCK'],
      ] as const;
      const reply = await sendRaw(simulator, [get(target), ...linesFor({ target, pairs })]);
      assert.equal(reply.status, 200);
    });
  }

  test('a plus sign is a space', async () => {
    const target = `${snapshotPath}?symbols=A+B&category=US_STOCK`;
    const pairs = [
      ['symbols', 'A B'],
      ['category', 'US_STOCK'],
    ] as const;
    const reply = await sendRaw(simulator, [get(target), ...linesFor({ target, pairs })]);
    assert.deepEqual(reply.json, {
      error_code: 'INVALID_SYMBOL',
      message: 'Symbol not known, A B',
      status: 417,
    });
  });

  test('the Host header is signed as it was sent', async () => {
    const host = 'Sim.Test:8443';
    const lines = linesFor({ target: snapshotTarget, host });
    assert.equal((await sendRaw(simulator, [get(snapshotTarget), ...lines])).status, 200);
    const other = linesFor({ target: snapshotTarget, host, change: { host: host.toLowerCase() } });
    assert.equal(codeOf(await sendRaw(simulator, [get(snapshotTarget), ...other])), 'INCORRECT_SIGN');
  });

  test('a body in chunks counts as the bytes it carries', async () => {
    const target = '/trade/place_order';
    const lines = linesFor({ method: 'POST', target, body: '{"a":1}' });
    const head = [`POST ${target} HTTP/1.1`, ...lines, 'transfer-encoding: chunked'];
    const reply = await sendRaw(simulator, head, '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n');
    assert.deepEqual(reply.json, { error_code: 'OPENAPI_PARAM_ERR', message: 'Parameter error, account_id' });
  });

  test('a body over the server’s limit is refused unread', async () => {
    const head = ['POST /trade/place_order HTTP/1.1', 'content-length: 1048577'];
    assert.equal((await sendRaw(simulator, head, 'x'.repeat(1_048_577))).status, 413);
  });

  test('what arrived is recorded as it was sent', async () => {
    const target = `${snapshotPath}?symbols=%41APL&category=US_STOCK`;
    await sendRaw(simulator, [get(target), ...linesFor({ target }), 'X-Thing: a', 'x-thing: b']);
    const last = simulator.received.at(-1);
    assert.deepEqual(
      [last?.method, last?.target, last?.body, last?.time, last?.outcome, last?.fault],
      ['GET', target, '', testTime, 'ok', undefined],
    );
    assert.equal(last?.headers['x-thing'], 'a, b');
    assert.equal(last?.headers.host, 'sim.test');
  });
});
