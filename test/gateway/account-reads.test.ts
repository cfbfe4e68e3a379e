/** Reads of account data through the gateway, in front of the simulated upstream: who shares which answer, and how old it is. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { SimulatorOptions } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, createMemoryCacheStores, type ResponseStore } from '../../lib/gateway/index.ts';
import { accountsPath, ask, coreFor, credentials, requestOf, secretText } from '../support/core.ts';

/** Instances on one response store, in front of a simulator; time goes on only when it is told to. */
async function fleetFor(t: TestContext, simulated: Partial<SimulatorOptions> = {}) {
  // At the beginning of a minute: quotas are counted by the minute.
  let now = Math.floor(Date.now() / 60_000) * 60_000;
  const clock = () => now;
  const written: string[] = [];
  const memory = createMemoryCacheStores();
  const state = { away: false };
  const orAway = <T>(work: () => Promise<T>) => (state.away ? Promise.reject(new Error('away')) : work());
  const responses: ResponseStore = {
    ...memory.responses,
    read: (...given) => orAway(() => memory.responses.read(...given)),
    write(key, answer, expiresAt) {
      const content =
        answer.kind === 'answer' ? new TextDecoder('latin1').decode(answer.body) : JSON.stringify(answer);
      written.push(`${key} ${content}`);
      return orAway(() => memory.responses.write(key, answer, expiresAt));
    },
  };
  const cache = { ...memory, responses };
  const core = await coreFor(t, { clock, ...simulated }, { clock, cache });
  const another = (secret = credentials) =>
    createGateway({
      operations,
      upstreamBaseUrl: core.simulator.url,
      secrets: { read: async () => secretText(secret) },
      clock,
      cache,
    });
  const asked = (path: string) => core.simulator.received.filter(({ target }) => target.startsWith(path));
  const skip = (ms: number) => {
    now += ms;
  };
  return { ...core, another, asked, skip, written, state };
}

const limited = { accountsListLimit: { requests: 8, perSeconds: 10 } };

describe('the accounts list', { concurrent: true }, () => {
  test('of 100 callers at once over five instances is one upstream call', async (t) => {
    const { gateway, another, asked, simulator } = await fleetFor(t, limited);
    const instances = [gateway, another(), another(), another(), another()];
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, caller) =>
        instances[caller % 5]!.handle({
          ...requestOf(accountsPath),
          caller: { unit: `unit-${caller}`, member: `member-${caller}` },
        }),
      ),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(asked(accountsPath).length, 1);
    const text = new TextDecoder().decode(replies[99]!.body);
    assert.deepEqual(JSON.parse(text), simulator.accounts);
  });

  test('says how old it is, and serves for a minute', async (t) => {
    const { gateway, another, asked, skip } = await fleetFor(t);
    await ask(gateway, accountsPath);
    skip(59_000);
    const { headers } = await ask(another(), accountsPath);
    assert.equal(asked(accountsPath).length, 1);
    assert.deepEqual(
      [headers.age, headers['x-poll-after'], headers['cache-control'], headers['cache-status']],
      ['59', '1', 'private, no-cache', 'countersign; hit; ttl=1'],
    );
    assert.equal(
      (await ask(gateway, accountsPath, { headers: { 'if-none-match': headers.etag! } })).status,
      304,
    );
    skip(2000);
    assert.equal((await ask(another(), accountsPath)).headers.age, '0');
    assert.equal(asked(accountsPath).length, 2);
  });

  test('is asked for anew by no-cache, twenty times a minute for one caller', async (t) => {
    const { gateway, asked, skip } = await fleetFor(t);
    for (let times = 0; times < 25; times++) {
      await ask(gateway, accountsPath, { headers: { 'cache-control': 'no-cache' } });
      skip(1100);
    }
    assert.equal(asked(accountsPath).length, 21);
  });

  test('that the upstream refuses for its limit is the one from before', async (t) => {
    const limit = { accountsListLimit: { requests: 1, perSeconds: 600 } };
    const { gateway, asked, skip } = await fleetFor(t, limit);
    const first = await ask(gateway, accountsPath);
    skip(61_000);
    const second = await ask(gateway, accountsPath);
    assert.equal(asked(accountsPath).length, 2);
    assert.deepEqual([second.status, second.text, second.headers.age], [200, first.text, '61']);
  });

  test('is sealed where other instances find it, and another secret of the key does not open it', async (t) => {
    const { gateway, another, asked, written, simulator } = await fleetFor(t);
    const { text } = await ask(gateway, accountsPath);
    assert.equal(written.length, 1);
    const account = Object.entries(simulator.accounts[0]!).flat();
    assert.ok(account.every((part) => text.includes(part)));
    for (const part of [...account, credentials.appKey, credentials.appSecret])
      assert.ok(!written[0]!.includes(part), part);
    const renewed = { ...credentials, appSecret: 'another-secret-of-the-key' };
    simulator.setCredentials([renewed]);
    assert.equal((await ask(another(renewed), accountsPath)).text, text);
    assert.equal(asked(accountsPath).length, 2);
  });
});
