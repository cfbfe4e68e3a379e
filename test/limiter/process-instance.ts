/**
 * One of the processes of `processes.ts`: acquires permits at a constant rate, and sends a signed request with
 * each. Settings come in its environment; it writes its counts as one line of JSON.
 */

import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoLimiterStore } from '../../functions/aws/dynamo-limiter-store.ts';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import { createLimiter } from '../../lib/limiter/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { marketData } from './world/world.ts';

const { UPSTREAM = '', DYNAMODB = '', TABLE = '', APP_KEY = '', APP_SECRET = '' } = process.env;
const [offsetMs, perMinute, seconds] = [
  Number(process.env.OFFSET_MS),
  Number(process.env.PER_MINUTE),
  Number(process.env.SECONDS),
];

const counts = {
  asked: 0,
  sent: 0,
  refused: 0,
  expired: 0,
  busy: 0,
  failed: 0,
  statuses: {} as Record<string, number>,
};
const clock = () => Date.now() + offsetMs;
const limiter = createLimiter({
  store: createDynamoLimiterStore({ client: createDynamoClient(DYNAMODB), tableName: TABLE }),
  limits: marketData,
  bucket: 'processes',
  clock,
  report: ({ kind }) => {
    if (kind === 'expired') counts.expired++;
    if (kind === 'store_busy') counts.busy++;
    if (kind === 'store_unavailable') counts.failed++;
  },
});
const signer = createSigner({ appKey: APP_KEY, appSecret: APP_SECRET });
const send = createNodeSend();

async function request(): Promise<void> {
  counts.asked++;
  const answer = await limiter.acquire({ appKey: APP_KEY, limits: ['market-data'] });
  if (!answer.ok) {
    counts.refused++;
    return;
  }
  const signed = await signer.sign({
    url: `${UPSTREAM}/openapi/market-data/stock/snapshot`,
    query: { symbols: 'AAPL', category: 'US_STOCK' },
  });
  if (!answer.permit.consume()) return;
  counts.sent++;
  const result = await send(signed, { timeoutMs: 5000, maxBytes: 1_000_000 });
  const status = result.kind === 'answer' ? String(result.status) : result.kind;
  counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
}

const longestSeconds = 300;
const started = Date.now();
const running: Promise<void>[] = [];
// On a busy machine a process may start late; it then goes on until it has sent something.
const endsAt = () => started + (counts.sent > 0 ? seconds : longestSeconds) * 1000;
for (let next = 0; Date.now() < endsAt(); next++) {
  running.push(request());
  const due = started + ((next + 1) * 60_000) / perMinute;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
}
await Promise.all(running);
process.stdout.write(`${JSON.stringify(counts)}\n`);
