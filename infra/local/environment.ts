/** The environment that the functions of a local run have: the variables that the stack would give them. */

import { type Environment, writePart } from '../../functions/settings/parts.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { upstreamPathsOf } from '../../lib/gateway/index.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
import { defaultNetworkPrefix } from '../../lib/identity/caller.ts';
import { defaultSessions } from '../../lib/market-stream/listener.ts';
import { defaultCompareMs } from '../../lib/trade-events/comparing.ts';
import { audience } from './issuer.ts';
import type { LocalSettings } from './settings.ts';

/** Wide enough for every example, and narrow enough to be met by a slip of the finger. */
export const demoLimits: TradingLimits = { max_order_notional: '100000', max_orders_per_minute: 600 };

/** What is kept, and where: as the stack names tables, buses and secrets. */
export const names = {
  secret: 'app-secret',
  identityKey: 'identity-key',
  limiter: 'limiter',
  cache: 'cache',
  access: 'access',
  journal: 'order-journal',
  audit: 'order-audit',
  controls: 'trading-controls',
  lookups: 'lookups',
  lookupBus: 'lookup-bus',
  events: 'trade-events',
  history: 'trade-event-history',
  eventsBus: 'trade-event-bus',
  ordersBus: 'order-bus',
} as const;

export interface EnvironmentParts {
  readonly upstreamBaseUrl: string;
  /** Of the event service; `undefined` where no listener runs. */
  readonly eventsUrl: string | undefined;
  /** Of the broker of quotes; `undefined` where no listener runs. */
  readonly marketStreamUrl: string | undefined;
  /** Of the run's tokens. */
  readonly issuer: string;
}

/**
 * @param operations what the function asks the upstream for
 * @param isClosed whether it serves account data: then with who calls, the journal, limits and the kill switch
 *
 * @example
 * start(settlement, localEnvironment(settings, parts, orderReadOperations, true), platform.ports);
 */
export function localEnvironment(
  settings: LocalSettings,
  { upstreamBaseUrl, eventsUrl, marketStreamUrl, issuer }: EnvironmentParts,
  operations: readonly Operation[],
  isClosed: boolean,
): Environment {
  const { upstreamPaths = {}, upstreamLimits = 'interface', corsOrigins = [], openGroups } = settings;
  const { tradingLimits = demoLimits, orderMembers = [] } = settings;
  const { identityKey: identityKeySecretId, journal: journalTable, controls: controlsTable } = names;
  return {
    ...writePart('UPSTREAM', {
      baseUrl: upstreamBaseUrl,
      limits: upstreamLimits,
      paths: upstreamPathsOf(upstreamPaths, operations),
      timeoutMs: undefined,
      secretId: names.secret,
    }),
    ...writePart('LIMITER', {
      tableName: names.limiter,
      bucket: 'local',
      share: 1,
      reserve: undefined,
      operationLimits: {},
    }),
    ...(settings.cache !== 'off' &&
      writePart('CACHE', {
        tableName: names.cache,
        tuning: {},
        networkPrefix: defaultNetworkPrefix,
        hasMarketStream: marketStreamUrl !== undefined,
      })),
    ...(marketStreamUrl !== undefined &&
      writePart('MARKET_STREAM', {
        url: marketStreamUrl,
        sessions: defaultSessions,
        tableName: names.cache,
      })),
    ...writePart('CORS', corsOrigins),
    ...writePart('LOOKUPS', {
      // Account data is readable by event only for sources with a grant.
      groups: openGroups.filter((group) => !isAccountData(group)),
      // One process works on the queue.
      instances: 1,
      queues: {
        tableName: names.lookups,
        queueUrl: names.lookups,
        busQueueUrl: undefined,
        deadLetterUrl: names.lookups,
        busName: names.lookupBus,
      },
    }),
    ...(isClosed && {
      ...writePart('ACCESS', { tableName: names.access, identityKeySecretId, userGroups: [] }),
      ...writePart('IDENTITY', { identityKeySecretId }),
      ...writePart('AUTH', { issuer, audience }),
      ...writePart('JOURNAL', { tableName: journalTable }),
      ...writePart('ORDER_AUDIT', { tableName: names.audit, busName: names.ordersBus }),
      ...writePart('SETTLEMENT', {
        journalTable,
        auditTable: names.audit,
        controlsTable,
        // No table of a local run is restored.
        usersTable: undefined,
      }),
      ...writePart('MASS_CANCELS', { controlsTable }),
      ...writePart('TRADING', { tableName: controlsTable, limits: tradingLimits, orderMembers }),
      // Also without shared quotes, where nothing writes to it: a price is asked of the upstream then.
      ...writePart('LAST_PRICES', { tableName: names.cache }),
      ...(eventsUrl !== undefined &&
        writePart('TRADE_EVENTS', {
          url: eventsUrl,
          tableName: names.events,
          busName: names.eventsBus,
          compareEveryMs: defaultCompareMs,
        })),
      ...writePart('EVENT_HISTORY', { tableName: names.history }),
    }),
  };
}
