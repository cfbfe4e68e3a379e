/** Last prices of a deployed function: what its variables mean, and what it logs when nothing can be asked. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { orderPorts } from '../../functions/aws/order-ports.ts';
import { composeLastPrices } from '../../functions/compose/last-prices.ts';
import { orders } from '../../functions/compose/order-offers.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { type OrderChecks, readFunctionSettings } from '../../functions/settings/function-settings.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { placeOrder } from '../../lib/catalogue/index.ts';
import { createMemoryLimiterStore } from '../../lib/limiter/index.ts';
import { limiterKey } from '../../lib/limiter/store.ts';
import { credentials, secretText } from '../support/core.ts';
import { hostWith, startDeployed } from '../support/deployed.ts';
import { each } from '../support/each.ts';
import { part, parts } from '../support/parts.ts';
import { useCalmTime } from '../world/test-time.ts';
import { awsEnvironment } from './secrets-manager-stub.ts';

useCalmTime();

const plain = parts('UPSTREAM', 'ACCESS');
const env = { ...plain, ...parts('LIMITER', 'LAST_PRICES') };
const { checks } = orders();
const snapshotsPath = part('UPSTREAM', { paths: { getStockSnapshots: '/elsewhere' } });

test('the variable is read where there is an operation to read prices with, and takes the limiter’s table', () => {
  const read = (given: Readonly<Record<string, string>>, reads?: OrderChecks) =>
    readFunctionSettings(given, [placeOrder], reads);
  const settingsOf = (given: ReturnType<typeof read>) => {
    assert.ok(given.ok, JSON.stringify(given));
    return given.settings;
  };
  const { lastPrices, limiter, cache, journalTable } = settingsOf(read(env, checks));
  assert.deepEqual(lastPrices, { tableName: 'cache', ...checks });
  assert.equal(limiter?.tableName, 'limiter');
  // It is no cache of the function's own, and no journal.
  assert.deepEqual([cache, journalTable], [undefined, undefined]);
  assert.equal(settingsOf(read(env)).lastPrices, undefined);
  assert.equal(settingsOf(read(plain, checks)).lastPrices, undefined);

  assert.deepEqual(read({ ...plain, ...parts('LAST_PRICES') }, checks), {
    ok: false,
    faults: ['LIMITER: not set'],
  });
});

test('another path of quotes is none of the function’s own gateway, which starts all the same', () => {
  Object.assign(process.env, awsEnvironment);
  const logged: LogEntry[] = [];
  const variables = { ...env, ...snapshotsPath };
  const log = (entry: LogEntry) => void logged.push(entry);
  assert.ok(startDeployed([placeOrder], variables, log, { checks }));
  assert.deepEqual(
    logged.filter(({ event }) => event === 'wrong_configuration'),
    [],
  );
});

test('without its tables it sends nothing, gives no price, and says why', async (t) => {
  const simulator = await startSimulator(credentials);
  t.onTestFinished(() => simulator.close());
  const read = readFunctionSettings(
    {
      ...env,
      ...part('UPSTREAM', { baseUrl: simulator.url }),
      // What is reserved belongs to functions that serve quotes.
      ...part('LIMITER', { reserve: { part: 0.5, instances: 1 } }),
    },
    [placeOrder],
    checks,
  );
  assert.ok(read.ok, JSON.stringify(read));
  const logged: LogEntry[] = [];
  const away = {
    send: () => Promise.reject(Object.assign(new Error(`no ${credentials.appKey}`), { $fault: 'client' })),
  };
  const host = hostWith((entry) => logged.push(entry), { functionName: 'orders' });
  const ports = orderPorts(host, () => away);
  const secrets = { read: async () => secretText() };
  const prices = composeLastPrices(read.settings, ports, secrets);
  assert.equal(await prices?.stock.lastPrice('AAPL', 15_000, Date.now() + 60_000), undefined);
  assert.deepEqual(simulator.received, []);
  const failures = logged.filter(({ event }) => event === 'last_price_not_read');
  assert.deepEqual(each(failures, 'level', 'step', 'name', 'code'), [
    ['warn', 'shared', 'Error', undefined],
    ['warn', 'upstream', undefined, 'budget_used_up'],
  ]);
  assert.doesNotMatch(
    JSON.stringify(logged),
    new RegExp(`${credentials.appKey}|${credentials.appSecret}|AAPL`),
  );

  const without = { ...read.settings, lastPrices: undefined };
  assert.equal(composeLastPrices(without, ports, secrets), undefined);
});

test('what it reads for a user counts as that user’s', async (t) => {
  const simulator = await startSimulator(credentials);
  t.onTestFinished(() => simulator.close());
  const variables = { ...env, ...part('UPSTREAM', { baseUrl: simulator.url }) };
  const read = readFunctionSettings(variables, [placeOrder], checks);
  assert.ok(read.ok, JSON.stringify(read));
  const store = createMemoryLimiterStore();
  const host = hostWith(() => {}, { functionName: 'orders' });
  const away = orderPorts(host, () => ({ send: () => Promise.reject(new Error('away')) }));
  const ports = { ...away, limiterStore: () => store };
  const prices = composeLastPrices(read.settings, ports, { read: async () => secretText() });
  for (const symbol of ['AAPL', 'MSFT', 'NVDA', 'TSLA'])
    assert.ok(await prices?.stock.lastPrice(symbol, 15_000, Date.now() + 60_000, 'a-user'));
  const key = await limiterKey(read.settings.limiter!.bucket, credentials.appKey);
  const { counters = {} } = (await store.read(key)) ?? {};
  assert.ok('market-data@a-user' in counters, JSON.stringify(counters));
});
