/** A short example of each object and list of the configuration, for the sentence that refuses something else in its place. */

import type { CountersignConfig } from './config.ts';

const examples = {
  upstream: { baseUrl: 'https://api.example.com', limits: 'published' },
  groups: { accounts: 'jwt', orders: 'jwt' },
  auth: { issuer: 'https://issuer.example.com', clientIds: ['my-app'] },
  throttle: { ratePerSecond: 100, burst: 200 },
  plans: { partner: { tier: 'app' } },
  limiter: { share: 0.5 },
  events: { archiveDays: 7 },
  accessToken: { checkEveryHours: 6 },
  tradeEvents: { compareEveryMinutes: 5 },
  trading: { limits: { max_order_notional: '10000', max_orders_per_minute: 30 } },
  cache: { snapshots: { staleAfterSeconds: 30 } },
  live: { maxStreams: 50 },
  marketStream: { url: 'mqtts://quotes.example.com:1883' },
  cors: { origins: ['https://app.example.com'] },
  functions: { memoryMiB: 512 },
  logs: { retentionDays: 90 },
  domain: { name: 'api.example.com', hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' } },
  canary: { everyMinutes: 5 },
} as const satisfies Partial<CountersignConfig>;

/** Of what is within; what has a name of its own, such as a plan, is `*`. */
const inner: Readonly<Record<string, object>> = {
  'events.groups': ['market-data'],
  'cors.origins': ['https://app.example.com'],
  'upstream.paths': { placeOrder: '/trading/orders/place' },
  'auth.scopes': { trade: ['orders:write'] },
  'plans.*': { tier: 'app' },
  'plans.*.keys': ['ios', 'android'],
  'plans.*.quota': { requests: 10_000, per: 'day' },
  'limiter.operationLimits': { bars: { requests: 60, perSeconds: 60, for: ['getStockBars'] } },
  'limiter.operationLimits.*': { requests: 60, perSeconds: 60, for: ['getStockBars'] },
  'trading.stopOnAlarms': { names: ['orders-refused'] },
  'trading.stopOnAlarms.names': ['orders-refused'],
  'trading.orderMembers': ['settlement_type'],
  'trading.limits': { max_order_notional: '10000', max_orders_per_minute: 30 },
  'cache.snapshots': { staleAfterSeconds: 30 },
  'cache.clients': { refreshesPerMinute: 20 },
  'live.capacity': { subnets: ['subnet-0123456789abcdef0'], securityGroups: ['sg-0123456789abcdef0'] },
  'live.capacity.subnets': ['subnet-0123456789abcdef0'],
  'live.capacity.securityGroups': ['sg-0123456789abcdef0'],
  'cache.networkPrefix': { ipv4: 24, ipv6: 56 },
  'functions.reservedConcurrency': { orders: 10 },
  'domain.hostedZone': { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' },
};

/** What opens something without any member of its own. */
export const opensEmpty: readonly string[] = [
  'events',
  'accessToken',
  'tradeEvents',
  'trading.stopOnAlarms',
  'canary',
];

const named = ['plans', 'limiter.operationLimits'];

/** Undefined for what is neither object nor list. */
export function exampleAt(path: readonly string[]): object | undefined {
  const place = path.reduce((before, name) => {
    const part = named.includes(before) ? '*' : name;
    return before === '' ? part : `${before}.${part}`;
  }, '');
  if (Object.hasOwn(inner, place)) return inner[place];
  return Object.hasOwn(examples, place) ? examples[place as keyof typeof examples] : undefined;
}
