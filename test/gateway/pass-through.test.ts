import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { ApiFault } from '../../infra/simulator/index.ts';
import type { Attempt } from '../../lib/gateway/index.ts';
import { accountsPath, ask, coreFor, problemOf, snapshotTarget } from '../support/core.ts';

/** Valid JSON that a reader who parses and writes would change. */
const odd =
  '{ "z" : 1.10,\t"a":12345678901234567890 , "a": -0,\r\n "t":"\u2028é\\u00e9\\/😀 < > & \\u003c", "e":1E+2, "10":1, "9":2 }\n';

describe('a 200 of the upstream', () => {
  test('passes byte for byte', async (t) => {
    const { gateway, simulator } = await coreFor(t, {
      fault: () => ({ kind: 'status', status: 200, body: odd }),
    });
    const reply = await ask(gateway, accountsPath);
    assert.equal(reply.status, 200);
    assert.equal(reply.text, odd);
    assert.deepEqual(reply.headers, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': 'request-1',
      'x-upstream-request-id': simulator.received[0]?.requestId,
    });
  });

  test('passes byte for byte, whatever JSON it is', async (t) => {
    let body = '';
    const { gateway } = await coreFor(t, { fault: () => ({ kind: 'status', status: 200, body }) });
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.boolean(), async (json, indented) => {
        body = indented ? JSON.stringify(JSON.parse(json), undefined, '\t') : json;
        const reply = await ask(gateway, accountsPath);
        assert.equal(reply.status, 200);
        assert.equal(reply.text, body);
      }),
    );
  });

  test('passes with its byte order mark: readers may ignore one (RFC 8259, 8.1)', async (t) => {
    const body = '\ufeff[1.10]';
    const { gateway } = await coreFor(t, { fault: () => ({ kind: 'status', status: 200, body }) });
    const reply = await ask(gateway, accountsPath);
    assert.equal(reply.status, 200);
    assert.equal(reply.text, body);
  });

  test('passes decompressed', async (t) => {
    let fault: ApiFault | undefined;
    const { gateway, simulator } = await coreFor(t, { fault: () => fault });
    const plain = await ask(gateway, accountsPath);
    fault = { kind: 'gzip' };
    const zipped = await ask(gateway, accountsPath);
    assert.equal(simulator.received.at(-1)?.fault, 'gzip');
    assert.equal(zipped.status, 200);
    assert.equal(zipped.text, plain.text);
    assert.equal(zipped.headers['content-encoding'], undefined);
  });

  test('passes up to the limit to the byte, and counts decompressed', async (t) => {
    let bytes = 1000;
    const { gateway } = await coreFor(
      t,
      { fault: () => ({ kind: 'oversized', bytes }) },
      { maxAnswerBytes: 1000 },
    );
    const reply = await ask(gateway, accountsPath);
    assert.equal(reply.status, 200);
    assert.equal(reply.body.length, 1000);
    bytes = 1001;
    assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_answer_too_large');
  });

  test('passes up to a megabyte to a key, and up to two of account data', async (t) => {
    let bytes = 1024 * 1024;
    const { gateway } = await coreFor(t, { fault: () => ({ kind: 'oversized', bytes }) });
    assert.equal((await ask(gateway, snapshotTarget)).status, 200);
    bytes++;
    const larger = problemOf(await ask(gateway, snapshotTarget), { status: 502 });
    assert.equal(larger.code, 'upstream_answer_too_large');
    bytes = 2 * 1024 * 1024;
    assert.equal((await ask(gateway, accountsPath)).status, 200);
    bytes++;
    assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_answer_too_large');
  });

  test('counts its bytes decompressed', async (t) => {
    const target = `/openapi/market-data/stock/snapshot?category=US_STOCK&symbols=${Array(100).fill('AAPL')}`;
    const { gateway } = await coreFor(t, { fault: () => ({ kind: 'gzip' }) }, { maxAnswerBytes: 10_000 });
    assert.equal(problemOf(await ask(gateway, target)).code, 'upstream_answer_too_large');
  });

  test('keeps prices text and numbers numbers', async (t) => {
    const { gateway } = await coreFor(t);
    const [snapshot] = JSON.parse((await ask(gateway, snapshotTarget)).text);
    assert.equal(typeof snapshot.price, 'string');
    assert.ok(Number.isInteger(snapshot.last_trade_time));
  });

  for (const [name, bytes] of [
    ['is not UTF-8', [0x22, 0xff, 0x22]],
    ['is empty', []],
    ['has something after its JSON', [0x31, 0x20, 0x78]],
  ] as const) {
    test(`that ${name} is broken`, async (t) => {
      const answer: Attempt = {
        kind: 'answer',
        status: 200,
        header: () => undefined,
        body: new Uint8Array(bytes),
      };
      const { gateway } = await coreFor(t, {}, { send: async () => answer });
      assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_broken_answer');
    });
  }
});
