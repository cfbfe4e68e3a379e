/** The configuration of a stage with everything on. */

import type { CountersignConfig } from '../../infra/stack/config.ts';
import { exposedOperations, openable, operations } from '../../lib/catalogue/index.ts';
import { subscriptionOperations } from '../../lib/market-stream/calls.ts';

/** Every second operation has one, so that each function has some of its own and the lookups hold theirs. */
const paths = Object.fromEntries(
  [...exposedOperations(operations, openable), ...subscriptionOperations]
    .filter((_, index) => index % 2 === 0)
    .map(({ id }) => [id, `/${id}`]),
);

/** Every property that becomes a variable or a right. */
export const everythingOn = {
  groups: { accounts: 'jwt', orders: 'jwt', watchlists: 'jwt', screeners: 'jwt' },
  auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
  upstream: { baseUrl: 'https://upstream.example', limits: 'interface', paths },
  limiter: {
    share: 1,
    reserve: 0.5,
    bucket: 'team',
    operationLimits: { placing: { requests: 1000, perSeconds: 60, for: ['placeOrder'] } },
  },
  functions: {
    reservedConcurrency: {
      accounts: 1,
      orders: 1,
      'order-cancels': 1,
      'order-reads': 1,
      watchlists: 1,
      'market-data': 1,
      fundamentals: 1,
      instruments: 1,
      screeners: 1,
    },
  },
  trading: {
    limits: { max_order_notional: '10000', max_orders_per_minute: 30 },
    orderMembers: ['settlement_type'],
    stopOnAlarms: { names: ['drawdown'], cancelOpen: true },
  },
  events: {
    groups: openable.filter((group) => group !== 'watchlists'),
    concurrency: 2,
    reservedConcurrency: 5,
  },
  cors: { origins: ['https://app.example'] },
  cache: {
    snapshots: { staleAfterSeconds: 20, expireAfterSeconds: 200 },
    clients: { minMaxAgeSeconds: 2, refreshesPerMinute: 10 },
    instances: 100,
    networkPrefix: { ipv4: 24, ipv6: 56 },
  },
  live: { maxStreams: 1, maxOrderStreams: 1 },
  accessToken: {},
  canary: {},
  tradeEvents: {},
  marketStream: { url: 'mqtts://quotes.example:1883' },
} as const satisfies CountersignConfig;

/** Its streams of quotes on managed instances, which divide no reserve. */
export const managed = {
  ...everythingOn,
  limiter: { ...everythingOn.limiter, reserve: 0 },
  live: {
    maxStreams: 480_000,
    maxOrderStreams: 1,
    capacity: {
      subnets: ['subnet-0123456789abcdef0'],
      securityGroups: ['sg-0123456789abcdef0'],
      streamsPerEnvironment: 1600,
      atRest: 1,
    },
  },
} as const satisfies CountersignConfig;
