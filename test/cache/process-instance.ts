/**
 * One of the processes of `processes.ts`: a gateway as deployed, over DynamoDB, and clients that each ask for
 * twenty symbols every five seconds. Settings come in its environment, its count leaves as one line of JSON.
 */

import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoLimiterStore } from '../../functions/aws/dynamo-limiter-store.ts';
import { createDynamoResponseStore } from '../../functions/aws/dynamo-response-store.ts';
import { createDynamoSnapshotStore } from '../../functions/aws/dynamo-snapshot-store.ts';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import { createUniverse } from '../../infra/simulator/market/universe.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, createLimiter, limiterLimits, type Send } from '../../lib/gateway/index.ts';
import { createZipf } from '../snapshots/world/load.ts';
import { createRandom } from '../world/random.ts';
import { tables } from './tables.ts';

const { UPSTREAM = '', DYNAMODB = '', SECRET = '' } = process.env;
const [seed, clients, seconds, symbolCount] = ['SEED', 'CLIENTS', 'SECONDS', 'SYMBOLS'].map((name) =>
  Number(process.env[name]),
) as [number, number, number, number];

const shared = {
  client: createDynamoClient(DYNAMODB),
  timeoutMs: 2000,
  tableName: tables.cache,
  partition: 'p',
};
const gateway = createGateway({
  access: 'single-user',
  operations,
  upstreamBaseUrl: UPSTREAM,
  secrets: { read: async () => SECRET },
  send: dated(createNodeSend()),
  limiter: createLimiter({
    store: createDynamoLimiterStore({ client: shared.client, tableName: tables.budget }),
    limits: limiterLimits(),
    bucket: 'processes',
  }),
  cache: { snapshots: () => createDynamoSnapshotStore(shared), responses: createDynamoResponseStore(shared) },
});

/** From the moment that the answer was put together to the moment after it. */
const clockMs = 250;
/** Ages count from then on, after the cold start. */
const skipMs = 1000 * Number(process.env.SKIP ?? 0);
const random = createRandom(seed);
const known = [...createUniverse(1).values()]
  .filter(({ category }) => category === 'US_STOCK')
  .map(({ symbol }) => symbol)
  .slice(0, symbolCount);
const zipf = createZipf(known.length);
const statuses: Record<string, number> = {};
/** Milliseconds since the upstream was asked for each record, when its answer was there. */
const ages: number[] = [];
const waits: number[] = [];
let wrong = 0;

async function ask(symbols: readonly string[]): Promise<void> {
  const asked = Date.now();
  const { status, body, headers } = await gateway.handle({
    method: 'GET',
    path: '/openapi/market-data/stock/snapshot',
    query: [
      ['symbols', symbols.join(',')],
      ['category', 'US_STOCK'],
    ],
    headers: {},
    requestId: 'r',
  });
  const now = Date.now();
  statuses[status] = (statuses[status] ?? 0) + 1;
  waits.push(now - asked);
  if (status !== 200) return;
  const records = JSON.parse(new TextDecoder().decode(body)) as { symbol: string; at: number }[];
  if (records.map(({ symbol }) => symbol).join() !== symbols.join()) wrong++;
  for (const record of records) {
    const age = now - record.at;
    if (now - started > skipMs) ages.push(age);
    if (age > Number(headers.age) * 1000 + clockMs) wrong++;
  }
}

const started = Date.now();
const running: Promise<void>[] = [];
await Promise.all(
  Array.from({ length: clients }, async () => {
    const symbols = new Set<string>();
    while (symbols.size < 20) symbols.add(known[zipf(random())]!);
    const own = [...symbols];
    await pause(random() * 5000);
    for (let due = Date.now(); due < started + seconds * 1000; due += 5000) {
      await pause(due - Date.now());
      running.push(ask(own));
    }
  }),
);
await Promise.all(running);
process.stdout.write(`${JSON.stringify({ statuses, ages, waits, wrong })}\n`);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

/** Puts into each record when it was asked for: the upstream's own times are those of trades. */
function dated(send: Send): Send {
  return async (request, limits) => {
    const at = Date.now();
    const result = await send(request, limits);
    if (result.kind !== 'answer') return result;
    const text = new TextDecoder().decode(result.body).replaceAll('{"symbol"', `{"at":${at},"symbol"`);
    return { ...result, body: new TextEncoder().encode(text) };
  };
}
