/**
 * `npm run study -- orders-under-fire 500`: orders through the deployed functions in the emulator, whose processes are killed at
 * random, at an upstream that loses the answer of each fifth one. Clients send each order again until they know what
 * became of it. It takes about a quarter of an hour of real time: an order whose function was killed before it was sent
 * is free again when a look-up finds nothing ten minutes later.
 */

import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { newOrder } from '../support/orders.ts';
import { createRandom } from '../world/random.ts';
import { signedByAws } from './aws-signature.ts';
import { clientConfig } from './deployment.ts';
import { killHeader } from './kill-header.ts';
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

/** When the function is killed that gets a request, as `killHeader` has it. */
type ChooseKill = (random: () => number, requests: number) => string | undefined;

/** At any moment: a tenth of them. */
const atRandom: ChooseKill = (random) =>
  random() < killed ? String(Math.round(random() * killWithinMs)) : undefined;

interface Told {
  readonly orderId: string;
  /** From the first request to the answer. */
  readonly ms: number;
  readonly requests: number;
  readonly isReplayed: boolean;
  /** Requests whose function was killed before it answered. */
  readonly ended: number;
}

export async function studyOrdersUnderFire([count = '500']: readonly string[]): Promise<boolean> {
  const orders = Number(count);
  const figures = await ordersUnderFire(orders, atRandom);
  console.log(JSON.stringify(figures, undefined, 2));
  const { placements, distinct, knows, toldWrongly } = figures;
  return placements === orders && distinct === orders && knows === orders && toldWrongly === 0;
}

/** @returns what became of so many orders */
export async function ordersUnderFire(count: number, chooseKill: ChooseKill) {
  const random = createRandom(count);
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
    const orders = Array.from({ length: count }, () =>
      newOrder({ order_type: 'LIMIT', limit_price: '1.10' }),
    );
    const left = [...orders];
    const told = new Map<string, Told>();
    const next = async (): Promise<void> => {
      for (let order = left.pop(); order; order = left.pop()) {
        const answer = await untilKnown(stage, order, (requests) => chooseKill(random, requests));
        if (answer) told.set(order.client_order_id, answer);
      }
    };
    await Promise.all(Array.from({ length: clients }, next));
    return figuresOf(stage, told);
  } finally {
    clearInterval(settling);
    await stage.stop();
  }
}

async function untilKnown(
  stage: Stage,
  order: ReturnType<typeof newOrder>,
  chooseKill: (requests: number) => string | undefined,
): Promise<Told | undefined> {
  const startedAt = Date.now();
  let ended = 0;
  for (let requests = 1; Date.now() - startedAt < giveUpAfterMs; requests++) {
    const kill = chooseKill(requests);
    const response = await place(stage, order, kill === undefined ? {} : { [killHeader]: kill });
    if (response?.status === 200) {
      const { order_id: orderId } = (await response.json()) as { readonly order_id: string };
      const isReplayed = response.headers.get('idempotent-replayed') === 'true';
      return { orderId, ms: Date.now() - startedAt, requests, isReplayed, ended };
    }
    // The gateway's own refusals have a code; without one the function ended before it answered.
    const code = await response?.json().then(
      ({ code }: { readonly code?: string }) => code,
      () => undefined,
    );
    if (code === undefined) ended++;
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

function figuresOf(stage: Stage, told: ReadonlyMap<string, Told>) {
  const placed = stage.simulator.orders;
  const wrong = placed.filter(({ clientOrderId, orderId }) => told.get(clientOrderId)?.orderId !== orderId);
  const all = [...told.values()];
  const times = all.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  const received = stage.simulator.received.filter(({ target }) => target.startsWith('/trade/place_order'));
  return {
    placements: placed.length,
    distinct: new Set(placed.map(({ clientOrderId }) => clientOrderId)).size,
    sent: received.length,
    killed: all.reduce((sum, { ended }) => sum + ended, 0),
    replayed: all.filter(({ isReplayed }) => isReplayed).length,
    knows: told.size,
    toldWrongly: wrong.length,
    requests: all.reduce((sum, one) => sum + one.requests, 0),
    knownAfterMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), most: times.at(-1) },
  };
}
