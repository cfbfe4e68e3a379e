/**
 * `npm run study -- order-latency [orders]`: what the journal and pre-trade checks add to the time of an order. All kinds
 * take turns in one run, so that they see the same machine; DynamoDB is the emulator.
 */

import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoOrderJournal } from '../../functions/aws/dynamo-order-journal.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../lib/gateway/index.ts';
import { createMemoryControls, type TradingLimits } from '../../lib/guard-rails/index.ts';
import { journalTable } from '../orders/table.ts';
import { accountId, ask, credentials, orderBody, orderPath, secretText } from '../support/core.ts';
import { names } from '../support/instances.ts';
import { startMinistack } from '../support/ministack.ts';
import { createTable, emulatorEnvironment } from '../world/dynamo.ts';

const each: TradingLimits = { max_order_notional: '1000000', max_order_quantity: '1000' };
const counting: TradingLimits = { ...each, max_open_notional: '1000000000', max_orders_per_minute: 100_000 };

export async function studyOrderLatency([count = '300']: readonly string[]): Promise<boolean> {
  Object.assign(process.env, emulatorEnvironment);
  const simulator = await startSimulator(credentials);
  const emulator = await startMinistack();
  try {
    const gateways = await gatewaysOf(simulator.url, emulator.endpoint);
    const times = new Map([...gateways.keys()].map((name) => [name, [] as number[]]));
    // The first orders of each connect and compile.
    for (let index = -20; index < Number(count); index++)
      for (const [name, gateway] of gateways) {
        const started = performance.now();
        const body = orderBody({
          client_order_id: `order-of-latency-${index}-${name.replaceAll(/\W/g, '')}`.slice(0, 40),
          order_type: 'LIMIT',
          limit_price: '1.00',
          quantity: '1',
          time_in_force: 'GTC',
        });
        const { status, text } = await ask(gateway, orderPath, { body });
        if (status !== 200) throw new Error(`${name}: ${text}`);
        if (index >= 0) times.get(name)?.push(performance.now() - started);
      }
    console.log('| orders pass | p50 | p99 |\n|---|---|---|');
    for (const [name, own] of times)
      console.log(`| ${name} | ${quantile(own, 0.5)} ms | ${quantile(own, 0.99)} ms |`);
    return true;
  } finally {
    await emulator.stop();
    await simulator.close();
  }
}

async function gatewaysOf(upstreamBaseUrl: string, endpoint: string): Promise<ReadonlyMap<string, Gateway>> {
  await createTable(endpoint, 'orders', ...journalTable);
  const { sealer } = createIdentity(async () => 'the identity key of this study, long enough');
  const journal = createDynamoOrderJournal({
    client: createDynamoClient(endpoint),
    tableName: 'orders',
    sealer,
  });
  const guarded = (...scopes: readonly (readonly [scope: string, limits: TradingLimits])[]) => {
    const controls = createMemoryControls();
    for (const [scope, limits] of scopes) controls.set(scope, { limits });
    return { orders: { journal, names, guard: { controls, journal } } };
  };
  const account = `account ${await names.nameOf('account', accountId)}`;
  const kinds: Readonly<Record<string, Partial<GatewayOptions>>> = {
    'no journal': {},
    'the journal': { orders: { journal, names } },
    'and limits of each order': guarded(['stack', each]),
    'and a counter': guarded(['stack', counting]),
    'and two counters': guarded(['stack', counting], [account, counting]),
  };
  return new Map(
    Object.entries(kinds).map(([name, options]) => [
      name,
      createGateway({
        operations,
        upstreamBaseUrl,
        secrets: { read: async () => secretText() },
        access: 'single-user',
        ...options,
      }),
    ]),
  );
}

function quantile(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b);
  return (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
}
