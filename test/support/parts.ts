/** The parts of functions' environments, as the stack writes them, with usual values for what a test does not care about. */

import { type Parts, writePart } from '../../functions/settings/parts.ts';
import { defaultNetworkPrefix } from '../../lib/identity/caller.ts';

const usual: Parts = {
  UPSTREAM: {
    baseUrl: 'https://upstream.example',
    limits: 'interface',
    paths: {},
    timeoutMs: undefined,
    secretId: 'secret',
  },
  CORS: [],
  LIMITER: {
    tableName: 'limiter',
    bucket: 'countersign',
    share: 1,
    reserve: undefined,
    operationLimits: {},
  },
  CACHE: { tableName: 'cache', tuning: {}, hasMarketStream: false, networkPrefix: defaultNetworkPrefix },
  AUTH: { issuer: 'https://issuer.example', clientIds: ['app'] },
  ACCESS: { tableName: 'users', identityKeySecretId: 'identity-key', userGroups: [] },
  IDENTITY: { identityKeySecretId: 'identity-key' },
  JOURNAL: { tableName: 'journal' },
  LAST_PRICES: { tableName: 'cache' },
  TRADING: { tableName: 'controls', limits: {}, orderMembers: [] },
  TRADING_STOP: { tableName: 'controls', cancelOpen: false },
  ORDER_AUDIT: { tableName: 'audit', busName: 'orders-bus' },
  SETTLEMENT: {
    journalTable: 'journal',
    auditTable: 'audit',
    controlsTable: undefined,
    usersTable: undefined,
  },
  MASS_CANCELS: { controlsTable: 'controls' },
  TRADE_EVENTS: {
    url: 'https://events.example',
    tableName: 'events',
    busName: 'events-bus',
    compareEveryMs: 300_000,
  },
  EVENT_HISTORY: { tableName: 'history' },
  MARKET_STREAM: { url: 'mqtts://quotes.example', sessions: 4, tableName: 'cache' },
  LIVE: { maxStreams: 300, processes: undefined },
  LOOKUPS: {
    groups: ['market-data'],
    instances: 2,
    queues: {
      tableName: 'lookups',
      queueUrl: 'https://queue.example',
      busQueueUrl: undefined,
      deadLetterUrl: 'https://dead-letters.example',
      busName: 'lookups-bus',
    },
  },
  CANARY: { url: 'https://api.example', keySecretId: 'key' },
  METRICS: { secretId: 'secret' },
};

/** Parts that are objects. */
type Named = Exclude<keyof Parts, 'CORS'>;

export const part = <Name extends Named>(name: Name, change: Partial<Parts[Name]> = {}) =>
  writePart(name, { ...usual[name], ...change } as Parts[Name]);

/** With their usual values. */
export const parts = (...names: readonly (keyof Parts)[]): Readonly<Record<string, string>> =>
  Object.assign({}, ...names.map((name) => writePart(name, usual[name])));
