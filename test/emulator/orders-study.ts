/**
 * `npm run study -- orders-under-fire 500`: orders through the deployed functions in the emulator, whose processes are killed at
 * random, at an upstream that loses the answer of each fifth one. Clients send each order again until they know what
 * became of it. It takes about a quarter of an hour of real time: an order whose function was killed before it was sent
 * is free again when a look-up finds nothing ten minutes later.
 */

import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { newOrder } from '../support/orders.ts';
import { createRandom } from '../support/virtual-time.ts';
import { signedByAws } from './aws-signature.ts';
import { clientConfig } from './deployment.ts';
import { killHeader } from './killed-orders.ts';
import { grantEverything } from './operator.ts';
import { putSecret } from './secret.ts';
import { type Stage, startStage } from './stage.ts';

const clients = 10;
const lost = 0.2;
const killed = 0.1;
const killWithinMs = 250;
const againAfterMs = 2000;
/** As the schedule of the function that settles orders. */
const settleEveryMs = 60_000;
const giveUpAfterMs = 20 * 60_000;

/** Requests whose function was killed before it answered. */
const ended = { count: 0 };

interface Told {
  readonly orderId: string;
  /** From the first request to the answer. */
  readonly ms: number;
  readonly requests: number;
  readonly isReplayed: boolean;
}

export async function studyOrdersUnderFire([count = '500']: readonly string[]): Promise<boolean> {
  const random = createRandom(Number(count));
  const stage = await startStage({
    props: {
      groups: { orders: 'iam' },
      entries: { orders: join(import.meta.dirname, 'killed-orders.ts') },
      functions: { timeoutSeconds: 8 },
      upstream: { timeoutSeconds: 3 },
    },
    fault: ({ method }) => (method === 'POST' && random() < lost ? { kind: 'drop-after' } : undefined),
  });
  const settling = setInterval(() => void settle(stage), settleEveryMs);
  try {
    await putSecret(stage);
    await grantEverything(stage);
    const orders = Array.from({ length: Number(count) }, () =>
      newOrder({ order_type: 'LIMIT', limit_price: '1.10' }),
    );
    const left = [...orders];
    const told = new Map<string, Told>();
    const next = async (): Promise<void> => {
      for (let order = left.pop(); order; order = left.pop()) {
        const answer = await untilKnown(stage, order, random);
        if (answer) told.set(order.client_order_id, answer);
      }
    };
    await Promise.all(Array.from({ length: clients }, next));
    return print(stage, orders.length, told);
  } finally {
    clearInterval(settling);
    await stage.stop();
  }
}

async function untilKnown(
  stage: Stage,
  order: ReturnType<typeof newOrder>,
  random: () => number,
): Promise<Told | undefined> {
  const startedAt = Date.now();
  for (let requests = 1; Date.now() - startedAt < giveUpAfterMs; requests++) {
    const kill = random() < killed ? { [killHeader]: String(Math.round(random() * killWithinMs)) } : {};
    const response = await place(stage, order, kill);
    if (response?.status === 200) {
      const { order_id: orderId } = (await response.json()) as { readonly order_id: string };
      const isReplayed = response.headers.get('idempotent-replayed') === 'true';
      return { orderId, ms: Date.now() - startedAt, requests, isReplayed };
    }
    // The gateway's own refusals have a code; without one the function ended before it answered.
    const code = await response?.json().then(
      ({ code }: { readonly code?: string }) => code,
      () => undefined,
    );
    if (code === undefined) ended.count++;
    await new Promise((resolve) => setTimeout(resolve, againAfterMs));
  }
  return undefined;
}

async function place(
  stage: Stage,
  order: ReturnType<typeof newOrder>,
  more: Readonly<Record<string, string>>,
): Promise<Response | undefined> {
  const path = '/trade/place_order';
  const body = JSON.stringify({ account_id: stage.simulator.accounts[0]?.account_id, new_orders: [order] });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const headers = { ...(await signedByAws(stage, path, init)), ...more };
  return fetch(`${stage.url}${path}`, { ...init, headers }).catch(() => undefined);
}

async function settle(stage: Stage): Promise<void> {
  const lambda = new LambdaClient(clientConfig(stage.emulator));
  const FunctionName = stage.outputs.OrderSettlementFunction;
  await lambda.send(new InvokeCommand({ FunctionName, Payload: '{}' })).catch(() => {});
}

function print(stage: Stage, orders: number, told: ReadonlyMap<string, Told>): boolean {
  const placed = stage.simulator.orders;
  const ids = new Set(placed.map(({ clientOrderId }) => clientOrderId));
  const wrong = placed.filter(({ clientOrderId, orderId }) => told.get(clientOrderId)?.orderId !== orderId);
  const times = [...told.values()].map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  const received = stage.simulator.received.filter(({ target }) => target.startsWith('/trade/place_order'));
  console.log(
    JSON.stringify(
      {
        orders,
        placements: placed.length,
        distinct: ids.size,
        sent: received.length,
        killed: ended.count,
        replayed: [...told.values()].filter(({ isReplayed }) => isReplayed).length,
        knows: told.size,
        toldWrongly: wrong.length,
        requests: [...told.values()].reduce((sum, one) => sum + one.requests, 0),
        knownAfterMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), most: times.at(-1) },
      },
      undefined,
      2,
    ),
  );
  return placed.length === orders && ids.size === orders && told.size === orders && wrong.length === 0;
}
