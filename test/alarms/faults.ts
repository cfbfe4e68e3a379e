/** What goes wrong for each alarm of the table, and which alarms ring then: these and no other. */

import { createServer } from 'node:http';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import { orderAuditHandler } from '../../functions/aws/order-audit.ts';
import { canary, start, tokenCheck } from '../../functions/compose/functions.ts';
import { createMarketStreamMetrics } from '../../functions/log/market-stream-metrics.ts';
import { createTradeEventsMetrics } from '../../functions/log/trade-events-metrics.ts';
import { listenOn } from '../../infra/listen.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import type { AlarmName } from '../../infra/stack/alarm-table.ts';
import { createTokenCalls } from '../../lib/access-token/calls.ts';
import { toCredential } from '../../lib/gateway/credential.ts';
import { followAll } from '../market-stream/instances.ts';
import { createListening, Market, ModelBroker } from '../market-stream/world.ts';
import { closedPort } from '../support/closed-port.ts';
import { accountId, credentials, newOrder, orderPath, secretText } from '../support/core.ts';
import { part } from '../support/parts.ts';
import { useSynchronousCrypto } from '../trade-events/world/synchronous-crypto.ts';
import { World as StreamWorld } from '../trade-events/world/world.ts';
import { VirtualTime } from '../world/virtual-time.ts';
import { createThrottled, throttlingClient } from './throttling.ts';
import { minute, type World } from './world.ts';

export interface AlarmFault {
  readonly name: string;
  readonly rings: readonly AlarmName[];
  /** With which of them an operator begins. Default the first. */
  readonly beginWith?: readonly AlarmName[];
  readonly share?: number;
  readonly limits?: object;
  readonly run: (world: World) => Promise<unknown>;
  /** After it the alarms end. Absent for what a person has to end. */
  readonly end?: (world: World) => Promise<unknown>;
  /** Minutes of usual work after it. Default 31. */
  readonly endsAfter?: number;
}

export const ticks = (count: number) =>
  `/market-data/stocks/ticks/list?symbol=AAPL&category=US_STOCK&count=${count}`;

let orders = 0;
const place = ({ ask }: World, more: object = {}) =>
  ask(orderPath, {
    account_id: accountId,
    new_orders: [
      newOrder({
        client_order_id: `alarm-${Date.now()}-${++orders}`,
        order_type: 'LIMIT',
        limit_price: '9.90',
        quantity: '1',
        ...more,
      }),
    ],
  });

/** The upstream does so, for a quarter of an hour unless it is said otherwise. */
const upstream = (fault: Parameters<World['scene']['simulator']['bring']>[0], minutes = 15) => ({
  run: async (world: World) => {
    await world.minutes(2);
    world.scene.simulator.bring(fault);
    await world.minutes(minutes);
  },
  end: async ({ scene }: World) => scene.simulator.bring(),
});

/** A store is broken while so many orders come, one a minute. */
const store = (name: Parameters<World['broken']['add']>[0], count = 6) => ({
  run: async (world: World) => {
    world.broken.add(name);
    // What functions know of limits is used for some seconds.
    await world.minutes(count, async () => {
      await world.scene.pass(10_000);
      await place(world);
    });
  },
  end: async ({ broken }: World) => broken.delete(name),
});

/** What only AWS counts: by the minute, for so many minutes. */
const counted = (counts: (world: World) => void, minutes = 10) => ({
  run: (world: World) => world.minutes(minutes, async () => counts(world)),
  end: async () => {},
});

export const faults: readonly AlarmFault[] = [
  {
    name: 'the API’s name leads nowhere, and then to it again',
    rings: ['canary-failing'],
    run: (world) => asksForQuotes(world, 'nowhere'),
    end: (world) => asksForQuotes(world, 'server'),
    endsAfter: 0,
  },
  {
    name: 'the upstream’s host is gone',
    rings: ['upstream-failing', 'quotes-stale', 'answers-failing'],
    ...upstream(() => ({ kind: 'drop' })),
  },
  {
    name: 'the upstream fails',
    rings: ['upstream-failing', 'quotes-stale', 'answers-failing'],
    ...upstream(() => ({ kind: 'status', status: 500 })),
  },
  {
    name: 'the upstream refuses the signature',
    rings: ['upstream-refusing', 'quotes-stale', 'answers-failing'],
    run: async (world) => {
      await world.minutes(2);
      world.scene.simulator.setCredentials([{ ...credentials, appSecret: 'another secret' }]);
      await world.minutes(15);
    },
    end: async ({ scene }) => scene.simulator.setCredentials([credentials]),
  },
  {
    name: 'the upstream refuses the access token',
    rings: ['token-refused', 'quotes-stale', 'answers-failing'],
    ...upstream(() => ({
      kind: 'status',
      status: 401,
      body: { error_code: 'INVALID_TOKEN', message: 'expired' },
    })),
  },
  {
    name: 'the upstream answers 429 although the limits are kept',
    rings: ['limit-refused', 'limit-used-up', 'quotes-stale', 'answers-failing'],
    // Callers get quotes for the first five minutes.
    ...upstream(() => ({ kind: 'status', status: 429 }), 20),
  },
  {
    name: 'the upstream allows less than upstream.limits says',
    rings: ['limit-refused', 'limits-tightened'],
    run: async (world) => {
      const { simulator } = world.scene;
      // At once, so that they are more than a tighter limit has in its window, also on a slow machine.
      await Promise.all(Array.from({ length: 40 }, (_, index) => world.ask(ticks(index + 1))));
      simulator.bring(() => ({ kind: 'status', status: 429 }));
      await world.ask(ticks(41));
      simulator.bring();
      await world.minutes(11);
    },
  },
  {
    name: 'more comes than the limit has',
    rings: ['limit-used-up'],
    share: 0.05,
    run: async (world) => {
      for (let burst = 0; burst < 4; burst++) {
        for (let count = 1; count <= 35; count++) await world.ask(ticks(count));
        await world.minutes(5);
      }
    },
    end: async () => {},
  },
  {
    name: 'the journal cannot be used',
    rings: ['journal-failed'],
    ...store('journal'),
  },
  {
    name: 'limits and stops cannot be read',
    rings: ['trading-limits-unread'],
    ...store('controls'),
  },
  {
    name: 'the table of limits and stops is restored to an earlier time',
    rings: ['orders-closed'],
    run: async (world) => {
      await world.minutes(2);
      const restore = await world.scene.copyOf('controls');
      await world.minutes(2);
      await restore();
      await world.minutes(10);
    },
    end: ({ scene }) => scene.confirm(['controls']),
  },
  {
    name: 'what is open cannot be asked to be cancelled',
    rings: ['cancel-not-requested'],
    limits: { max_order_quantity: '5', actions: { max_order_quantity: 'block_and_cancel' } },
    run: async (world) => {
      world.broken.add('massCancelRequests');
      await place(world, { quantity: '6' });
      await world.minutes(6);
    },
    end: async ({ broken }) => broken.clear(),
  },
  {
    name: 'orders are lost, and the upstream’s reads of orders fail',
    rings: ['upstream-failing', 'orders-unknown'],
    run: async (world) => {
      const { simulator } = world.scene;
      // The gateway looks an order up at once when its answer is lost.
      simulator.bring(({ method, path }) =>
        method === 'POST'
          ? { kind: 'drop-after' }
          : /order/.test(path)
            ? { kind: 'status', status: 500 }
            : undefined,
      );
      await place(world);
      await world.minutes(26);
    },
    end: async ({ scene }) => scene.simulator.bring(),
  },
  {
    name: 'nothing settles and nothing cancels',
    rings: ['orders-unknown', 'orders-left-open'],
    beginWith: ['orders-unknown', 'orders-left-open'],
    run: async (world) => {
      await world.minutes(2);
      await world.scene.pass(15 * minute);
    },
    end: async () => {},
  },
  {
    name: 'what an operator wants cancelled stays open',
    rings: ['upstream-failing', 'orders-left-open'],
    run: async (world) => {
      await place(world);
      await world.scene.operator.apply({
        action: 'stop',
        subject: { kind: 'gateway' },
        reason: 'drill',
        cancelOpen: true,
      });
      world.scene.simulator.bring(({ path }) =>
        /cancel/.test(path) ? { kind: 'status', status: 500 } : undefined,
      );
      await world.minutes(13);
    },
    end: async ({ scene }) => scene.simulator.bring(),
  },
  {
    name: 'an alarm cannot stop trading',
    rings: ['stop-failed', 'stop-lost'],
    run: async (world) => {
      world.broken.add('controlAdmin');
      // Lambda tries after one minute and after two, and then puts the event into the queue.
      for (const wait of [1, 2, 1]) {
        await world.scene.alarm().then(
          () => world.count('Errors', 'trading-stop', 0),
          () => world.count('Errors', 'trading-stop', 1),
        );
        await world.minutes(wait);
      }
      world.count('ApproximateNumberOfMessagesVisible', 'trading-stop-lost', 1);
      await world.minutes(1);
    },
    end: async ({ broken }) => broken.clear(),
  },
  {
    name: 'DynamoDB throttles',
    rings: ['store-throttled'],
    run: async (world) => {
      const client = throttlingClient(world);
      await world.minutes(5, () => createThrottled(client));
    },
    end: async () => {},
  },
  {
    name: 'the audit fails as a whole, and then gives up',
    rings: ['audit-failed', 'audit-behind', 'audit-lost'],
    run: async (world) => {
      const handler = orderAuditHandler(undefined, () => {});
      let age = 0;
      await world.minutes(15, async () => {
        const isError = await handler({ Records: [] }).then(
          () => 0,
          () => 1,
        );
        age = isError ? age + minute : 0;
        world.count('Errors', 'order-audit', isError);
        world.count('IteratorAge', 'order-audit', age);
      });
      world.count('ApproximateNumberOfMessagesVisible', 'order-audit-lost', 1);
      await world.minutes(6);
    },
    end: async () => {},
  },
  {
    name: 'a request by event could not be served',
    rings: ['lookups-lost'],
    ...counted((world) => world.count('ApproximateNumberOfMessagesVisible', 'lookup-dead-letters', 1), 2),
  },
  {
    name: 'a function crashes',
    rings: ['functions-failing'],
    ...counted((world) => world.count('Errors', 'api-functions', 1), 6),
  },
  {
    name: 'Lambda has no instance free',
    rings: ['functions-throttled'],
    ...counted((world) => world.count('Throttles', 'api-functions', 3), 4),
  },
  {
    name: 'the account’s instances are used up',
    rings: ['concurrency-used-up'],
    ...counted((world) => world.count('ConcurrentExecutions', 'account', 85)),
  },
  {
    name: 'the access token ends, and then it cannot be checked',
    rings: ['token-ending', 'token-unchecked'],
    beginWith: ['token-ending', 'token-unchecked'],
    run: checkToken,
    end: checkWithoutToken,
  },
  {
    name: 'the stream of trade events is refused',
    rings: ['trade-events-refused', 'trade-events-unconnected'],
    run: (world) => streamed(world, 'unauthenticated'),
    end: (world) => streamed(world, undefined),
    endsAfter: 0,
  },
  {
    name: 'the stream of trade events cannot be had',
    rings: ['trade-events-unconnected'],
    run: (world) => streamed(world, 'unavailable'),
    end: (world) => streamed(world, undefined),
    endsAfter: 0,
  },
  {
    name: 'the upstream refuses connections to its stream of quotes',
    rings: ['market-stream-away'],
    run: (world) => listened(world, 104),
    end: (world) => listened(world, undefined),
    endsAfter: 0,
  },
  {
    name: 'the bus takes no trade event',
    rings: ['trade-events-unpublished'],
    run: async (world) => {
      const metrics = createTradeEventsMetrics((entry) => void world.lines.push(entry), {
        functionName: 'trade-events',
        clock: world.now,
      });
      await world.minutes(6, async () => {
        metrics.report({ kind: 'state', connected: true, lastSignAgeMs: 0 });
        metrics.refused(2);
      });
    },
  },
];

/** The canary, each five minutes for three quarters of an hour. A server that answers everything stands for the API. */
async function asksForQuotes(world: World, whom: 'nowhere' | 'server'): Promise<void> {
  const server = createServer((_, response) => response.end('[]'));
  const port = whom === 'nowhere' ? await closedPort() : await listenOn(server, 0);
  const ask = start(canary, part('CANARY', { url: `http://127.0.0.1:${port}/` }), {
    functionName: 'canary',
    log: (entry) => void world.lines.push(entry),
    clock: world.now,
    sleep: async () => {},
    send: createNodeSend(),
    secret: () => ({ read: async () => 'a-key' }),
  });
  for (let times = 0; times < 9; times++) {
    await ask().then(
      () => world.count('Errors', 'canary', 0),
      () => world.count('Errors', 'canary', 1),
    );
    await world.minutes(5);
  }
  server.closeAllConnections();
  server.close();
}

/** One of fifteen days, which is checked every six hours; and then two days without an upstream. */
async function checkToken(world: World): Promise<void> {
  const clock = world.now;
  const simulator = await startSimulator({
    ...credentials,
    accessToken: 'another',
    tokenApprovalMs: 0,
    tokenUseProlongs: false,
    clock,
  });
  const secret = { app_key: credentials.appKey, app_secret: credentials.appSecret };
  const read = toCredential(JSON.stringify(secret), { clock });
  if (!read.ok) throw new Error(read.code);
  const calls = createTokenCalls({ baseUrl: simulator.url, credential: read.credential });
  const { token } = await calls.create();
  const text = JSON.stringify({ ...secret, access_token: token });
  const checked = (days: number) => checkedFor(days, world, simulator.url, text);
  const since = world.now();
  await checked(11);
  if (world.rang(since).some((name) => name.startsWith('token')))
    throw new Error('an alarm rings with a good token');
  await checked(4);
  await simulator.close();
  await checked(3);
}

/** Two days before an upstream that wants no token. */
async function checkWithoutToken(world: World): Promise<void> {
  const simulator = await startSimulator({ ...credentials, clock: world.now });
  await checkedFor(2, world, simulator.url, secretText(credentials));
  await simulator.close();
}

async function checkedFor(days: number, world: World, upstreamUrl: string, secret: string): Promise<void> {
  const check = start(tokenCheck, part('UPSTREAM', { baseUrl: upstreamUrl, secretId: 'of-the-check' }), {
    functionName: 'access-token',
    log: (entry) => void world.lines.push(entry),
    clock: world.now,
    sleep: async () => {},
    secret: () => ({ read: async () => secret }),
  });
  for (let times = 0; times < days * 4; times++) {
    await check().then(
      () => world.count('Errors', 'access-token', 0),
      () => world.count('Errors', 'access-token', 1),
    );
    await world.scene.pass(6 * 60 * minute);
  }
}

/** Eight minutes of a listener of quotes that clients ask for, before a model of the upstream's broker. */
async function listened(world: World, refuse: number | undefined): Promise<void> {
  const time = new VirtualTime();
  const offset = world.now() - time.now();
  const market = new Market(time, ['A', 'B'], 1);
  const broker = new ModelBroker(time, market);
  if (refuse !== undefined) broker.faults = { refuse };
  const metrics = createMarketStreamMetrics((entry) => void world.lines.push(entry), {
    functionName: 'market-stream',
    clock: () => time.now() + offset,
  });
  const listening = createListening(time, broker, { report: metrics.report });
  followAll(time, market, { ...listening, symbols: ['A', 'B'], instances: 1 });
  listening.begin();
  await time.runUntil(time.now() + 480_000);
  await world.scene.pass(480_000);
}

/** Five minutes of listeners beside a model of the upstream. */
async function streamed(world: World, answer: 'unauthenticated' | 'unavailable' | undefined): Promise<void> {
  const giveBack = useSynchronousCrypto();
  const streams = new StreamWorld();
  const offset = world.now() - streams.time.now();
  const metrics = createTradeEventsMetrics((entry) => void world.lines.push(entry), {
    functionName: 'trade-events',
    clock: () => streams.time.now() + offset,
  });
  if (answer) streams.upstream.answer = answer;
  streams.schedule();
  let told = 0;
  for (let second = 0; second < 360; second++) {
    await streams.pass(1000);
    for (; told < streams.reports.length; told++) metrics.report(streams.reports[told]!);
  }
  // The rest of the deployment has its own.
  giveBack();
  await world.minutes(6);
}
