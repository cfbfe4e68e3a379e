/**
 * What a cached read costs, and what store and limiter add to it: twenty snapshots out of what all share, with
 * stores in memory and on the DynamoDB engine, beside the same read straight through to the upstream.
 */

import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoLimiterStore } from '../../functions/aws/dynamo-limiter-store.ts';
import { createDynamoResponseStore } from '../../functions/aws/dynamo-response-store.ts';
import { createDynamoSnapshotStore } from '../../functions/aws/dynamo-snapshot-store.ts';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { createUniverse } from '../../infra/simulator/market/universe.ts';
import { operations } from '../../lib/catalogue/index.ts';
import {
  type CacheOptions,
  createGateway,
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  type Gateway,
  type LimiterStore,
} from '../../lib/gateway/index.ts';
import { at, type Figures, median, type Size } from '../support/figures.ts';
import { startMinistack, whatIsMissing } from '../support/ministack.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';
import { createTables, tables } from './tables.ts';

const credentials = { appKey: 'bench-key', appSecret: 'bench-secret' };
/** So that the journal is looked into, and refreshes fall due, as under load. */
const limits = { 'market-data': { requests: 300, perSeconds: 60 } };

export async function benchCachedRead(size: Size): Promise<Figures> {
  const simulator = await startSimulator({
    ...credentials,
    limits: { 'market-data': { requests: 1_000_000, perSeconds: 60 } },
  });
  const missing = whatIsMissing();
  const emulator = missing ? undefined : await startMinistack();
  try {
    const gatewayOn = (limiterStore: LimiterStore | undefined, cache: CacheOptions | undefined) =>
      createGateway({
        access: 'single-user',
        operations,
        upstreamBaseUrl: simulator.url,
        secrets: {
          read: async () =>
            JSON.stringify({ app_key: credentials.appKey, app_secret: credentials.appSecret }),
        },
        send: createNodeSend(),
        ...(limiterStore && { limiter: createLimiter({ store: limiterStore, limits, bucket: 'bench' }) }),
        ...(cache && { cache }),
      });
    const gateways: Record<string, Gateway> = {
      'straight through': gatewayOn(undefined, undefined),
      'stores in memory': gatewayOn(createMemoryLimiterStore(), createMemoryCacheStores()),
    };
    if (emulator) {
      Object.assign(process.env, emulatorEnvironment);
      await createTables(emulator.endpoint);
      const client = createDynamoClient(emulator.endpoint);
      const table = { client, tableName: tables.cache, partition: 'bench', timeoutMs: 2000 };
      gateways['DynamoDB engine'] = gatewayOn(
        createDynamoLimiterStore({ client, tableName: tables.budget }),
        {
          snapshots: () => createDynamoSnapshotStore(table),
          responses: createDynamoResponseStore(table),
        },
      );
    }
    const figures = await compare(gateways, size);
    if (missing) console.log(`  ${missing}`);
    return figures;
  } finally {
    await simulator.close();
    await emulator?.stop();
  }
}

async function compare(
  gateways: Readonly<Record<string, Gateway>>,
  { rounds, warmUp }: Size,
): Promise<Figures> {
  const symbols = [...createUniverse(1).values()]
    .filter(({ category }) => category === 'US_STOCK')
    .slice(0, 20)
    .map(({ symbol }) => symbol)
    .join(',');
  const times: Record<string, number[]> = {};
  for (let round = 0; round < rounds + warmUp; round++)
    // In turn, so that other work of the machine falls on all.
    for (const [name, gateway] of Object.entries(gateways)) {
      const ms = await timed(gateway, symbols);
      const own = times[name] ?? [];
      times[name] = own;
      if (round >= warmUp) own.push(ms);
    }
  console.log(`Cached read: 20 snapshots, ${rounds} rounds, sequential, without HTTP in front`);
  const straight = median(times['straight through'] ?? []);
  for (const [name, all] of Object.entries(times)) {
    const [p50, p99] = [median(all), at(all, 0.99)];
    const perSecond = Math.round((1000 * all.length) / all.reduce((total, ms) => total + ms, 0));
    console.log(
      `  ${name.padEnd(18)} p50 ${p50.toFixed(3)} ms   p99 ${p99.toFixed(2)} ms   ${perSecond} reads/s of one process   ${(p50 / straight).toFixed(2)} of straight through`,
    );
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

async function timed(gateway: Gateway, symbols: string): Promise<number> {
  const started = performance.now();
  const { status } = await gateway.handle({
    method: 'GET',
    path: '/openapi/market-data/stock/snapshot',
    query: [
      ['symbols', symbols],
      ['category', 'US_STOCK'],
    ],
    headers: {},
    requestId: 'bench',
  });
  if (status !== 200) throw new Error(`answered ${status}`);
  return performance.now() - started;
}
