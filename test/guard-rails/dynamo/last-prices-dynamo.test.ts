/**
 * The function that places orders reads what the function of market data shares in DynamoDB: both as they are deployed,
 * from the same variables.
 */

import assert from 'node:assert/strict';
import { beforeAll, describe, type TestContext, test } from 'vitest';
import type { DynamoSender } from '../../../functions/aws/dynamo-client.ts';
import { createDynamoSnapshotReads } from '../../../functions/aws/dynamo-snapshot-reads.ts';
import { createDynamoSnapshotStore } from '../../../functions/aws/dynamo-snapshot-store.ts';
import { orderPorts } from '../../../functions/aws/order-ports.ts';
import { quotePorts } from '../../../functions/aws/ports.ts';
import { composeGateway, composeQuotes } from '../../../functions/compose/gateway.ts';
import { composeLastPrices } from '../../../functions/compose/last-prices.ts';
import { orders } from '../../../functions/compose/order-offers.ts';
import type { LogEntry } from '../../../functions/log/log.ts';
import { operationsIn } from '../../../functions/rows.ts';
import { readFunctionSettings } from '../../../functions/settings/function-settings.ts';
import { type ApiFault, startSimulator } from '../../../infra/simulator/index.ts';
import { lastPriceActions } from '../../../infra/stack/group-functions.ts';
import { noControl, type SnapshotCheckpoint } from '../../../lib/cache/snapshots/index.ts';
import { getStockSnapshots, operations } from '../../../lib/catalogue/index.ts';
import { symbolListing } from '../../../lib/catalogue/symbol-listing.ts';
import { ask, credentials, secretText, snapshotPath } from '../../support/core.ts';
import { hostWith } from '../../support/deployed.ts';
import { each } from '../../support/each.ts';
import { part } from '../../support/parts.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';

const timeoutMs = 10_000;
const secrets = { read: async () => secretText() };

describe('prices in DynamoDB', needsDynamo(), () => {
  const engine = dynamoEngine();
  let [cache, limiter] = ['', ''];
  beforeAll(async () => {
    [cache, limiter] = [await engine.table(), await engine.table(['pk'])];
  });

  /** The client, and what is called of a table. */
  function observed(): { readonly client: DynamoSender; readonly calls: (readonly [string, string])[] } {
    const calls: (readonly [action: string, input: string])[] = [];
    const client: DynamoSender = {
      send(operation, input, options) {
        calls.push([operation, JSON.stringify(input)]);
        return engine.client.send(operation, input, options);
      },
    };
    return { client, calls };
  }

  async function deployed(t: TestContext) {
    let fault: ApiFault | undefined;
    // The market stands still: a refresh between two reads brings the same prices.
    const from = Date.now();
    const simulator = await startSimulator({ ...credentials, fault: () => fault, clock: () => from });
    t.onTestFinished(() => simulator.close());
    const logged: LogEntry[] = [];
    const log = (entry: LogEntry) => void logged.push(entry);
    const common = {
      ...part('UPSTREAM', { baseUrl: simulator.url }),
      ...part('LIMITER', { tableName: limiter }),
      ...part('ACCESS'),
    };

    const own = operationsIn('market-data', operations);
    const ofMarketData = readFunctionSettings({ ...common, ...part('CACHE', { tableName: cache }) }, own);
    assert.ok(ofMarketData.ok);
    const ports = quotePorts(hostWith(log), () => engine.client);
    const marketData = composeGateway(ofMarketData.settings, ports, {
      operations: own,
      lookUps: [],
      lowPriority: undefined,
      secrets,
      access: undefined,
      cache: composeQuotes(symbolListing, ofMarketData.settings, ports),
      orders: undefined,
    });

    const env = { ...common, ...part('LAST_PRICES', { tableName: cache }) };
    const ofOrders = readFunctionSettings(env, operationsIn('orders', operations), orders().checks);
    assert.ok(ofOrders.ok);
    const { client: reader, calls } = observed();
    const readerPorts = orderPorts(hostWith(log, { functionName: 'orders' }), () => reader);
    const prices = composeLastPrices(ofOrders.settings, readerPorts, secrets);
    assert.ok(prices);
    return {
      simulator,
      marketData,
      prices,
      calls,
      logged,
      setFault(next: ApiFault | undefined) {
        fault = next;
      },
    };
  }

  test('what the function of market data has fetched is the price, and BatchGetItem is all that it takes', async (t) => {
    const { marketData, prices, calls, setFault } = await deployed(t);
    const wanted = new Map<string, string>();
    for (const target of ['AAPL,MSFT&category=US_STOCK', 'SPY&category=US_ETF&extend_hour_required=true']) {
      // A busy emulator may take longer than a request waits.
      let reply = await ask(marketData, `${snapshotPath}?symbols=${target}`);
      for (let tries = 1; reply.status !== 200 && tries < 20; tries++)
        reply = await ask(marketData, `${snapshotPath}?symbols=${target}`);
      for (const { symbol, price } of JSON.parse(reply.text)) wanted.set(symbol, price);
    }
    assert.equal(wanted.size, 3);
    // From now on the upstream gives no price.
    setFault({ kind: 'status', status: 500 });
    for (const [symbol, price] of wanted) {
      let found = await prices.stock.lastPrice(symbol, 300_000, Date.now() + 20_000);
      for (let tries = 1; !found && tries < 20; tries++)
        found = await prices.stock.lastPrice(symbol, 300_000, Date.now() + 20_000);
      assert.equal(found?.price, price, symbol);
    }
    const shared = calls.filter(([, input]) => input.includes(`"${cache}"`));
    assert.deepEqual([...new Set(shared.map(([action]) => action))], lastPriceActions);
  });

  test('what no function has fetched is one call, counted in the table of the limiter', async (t) => {
    const { simulator, prices, calls, logged } = await deployed(t);
    // The reader waits 300 ms for a table, and the limiter 500 ms.
    let found = await prices.stock.lastPrice('NVDA', 15_000, Date.now() + 20_000);
    for (let tries = 1; !found && tries < 20; tries++)
      found = await prices.stock.lastPrice('NVDA', 15_000, Date.now() + 20_000);
    assert.match(found?.price ?? '', /^\d+\.\d+$/, JSON.stringify(logged));
    assert.deepEqual(each(simulator.received, 'target'), [
      `${getStockSnapshots.path}?symbols=NVDA&category=US_STOCK`,
    ]);
    assert.ok(calls.some(([, input]) => input.includes(`"${limiter}"`) && input.includes('market-data')));
    for (const { event } of logged) assert.ok(['budget', 'last_price_not_read'].includes(event), event);
  });

  test('a checkpoint of several items is read whole, and records of the log one by one', async () => {
    const options = { client: engine.client, tableName: cache, timeoutMs, partition: 'of-this-test' };
    const store = createDynamoSnapshotStore(options);
    const reads = createDynamoSnapshotReads(options);
    assert.deepEqual(await reads.last('S0X1'), { sequence: 0, checkpoint: undefined });
    const groups = (count: number, sequence: number): SnapshotCheckpoint => ({
      sequence,
      at: sequence,
      fetched: Array.from({ length: count }, (_, group) => ({
        view: 'US_STOCK',
        sentAt: sequence,
        records: recordsOf(group),
      })),
      demand: [],
      negative: [],
      recent: [],
      failedProbes: [],
    });
    await store.acquire({ ...noControl, sequence: 9 }, 0);
    for (const [count, sequence] of [
      [60, 7],
      // Smaller than the one before, of which items are left.
      [20, 8],
    ] as const) {
      const written = groups(count, sequence);
      await store.writeCheckpoint(0, written);
      for (const group of [0, 1, 19, 20, 31, 59]) {
        const symbol = `S${group}X1`;
        const { checkpoint, sequence: last } = await reads.last(symbol);
        assert.deepEqual([last, checkpoint?.sequence], [9, sequence]);
        const found = checkpoint?.fetched.flatMap(({ records }) => records.get(symbol) ?? []);
        const expected = written.fetched[group]?.records.get(symbol);
        assert.deepEqual(found, expected ? [expected] : [], symbol);
      }
    }
    await store.write({
      sequence: 9,
      kind: 'refresh',
      view: 'US_STOCK',
      sentAt: 5,
      symbols: ['AAPL'],
      outcome: { kind: 'answer', records: recordsOf(1), unknown: [] },
      demand: [],
    });
    const found = await reads.records([8, 9], 'S1X1');
    assert.deepEqual(
      found.map(({ sequence, sentAt, symbols }) => [sequence, sentAt, symbols.length]),
      [[9, 5, 100]],
    );
    const [other] = await reads.records([9], 'S2X1');
    assert.deepEqual([other?.sequence, other?.sentAt, other?.symbols], [9, 5, []]);
  });
});

/** Of a hundred symbols, in bytes that hardly compress. */
const recordsOf = (group: number) =>
  new Map(
    Array.from({ length: 100 }, (_, index) => {
      const symbol = `S${group}X${index}`;
      const noise = Array.from({ length: 6 }, () => crypto.randomUUID()).join('');
      return [symbol, new TextEncoder().encode(`{"symbol":"${symbol}","price":"1.10","noise":"${noise}"}`)];
    }),
  );
