/** The environment that the functions of a local run have: the variables that the stack would give them. */

import type { Environment } from '../../functions/settings/environment.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { upstreamPathsOf } from '../../lib/gateway/index.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
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
  const { upstreamPaths = {}, upstreamLimits, corsOrigins, openGroups } = settings;
  const { tradingLimits = demoLimits } = settings;
  const shared = settings.cache === 'off' ? undefined : names.cache;
  return {
    UPSTREAM_BASE_URL: upstreamBaseUrl,
    UPSTREAM_PATHS: JSON.stringify(upstreamPathsOf(upstreamPaths, operations)),
    UPSTREAM_LIMITS: typeof upstreamLimits === 'object' ? JSON.stringify(upstreamLimits) : upstreamLimits,
    SECRET_ID: names.secret,
    LIMITER_TABLE: names.limiter,
    LIMITER_BUCKET: 'local',
    CACHE_TABLE: shared,
    MARKET_STREAM: marketStreamUrl && 'on',
    MARKET_STREAM_URL: marketStreamUrl,
    CORS_ORIGINS: typeof corsOrigins === 'string' ? corsOrigins : corsOrigins?.join(','),
    LOOKUP_TABLE: names.lookups,
    LOOKUP_QUEUE: names.lookups,
    LOOKUP_DEAD_LETTERS: names.lookups,
    LOOKUP_BUS: names.lookupBus,
    // One process works on the queue.
    LOOKUP_INSTANCES: '1',
    // Account data is readable by event only for sources with a grant.
    LOOKUP_GROUPS: openGroups.filter((group) => !isAccountData(group)).join(','),
    ...(isClosed && {
      ACCESS_TABLE: names.access,
      IDENTITY_KEY_SECRET_ID: names.identityKey,
      AUTH: JSON.stringify({ issuer, audience }),
      ORDER_JOURNAL_TABLE: names.journal,
      ORDER_AUDIT_TABLE: names.audit,
      ORDER_EVENTS_BUS: names.ordersBus,
      TRADING_CONTROLS_TABLE: names.controls,
      TRADING_LIMITS: JSON.stringify(tradingLimits),
      ORDER_MEMBERS: settings.orderMembers?.join(','),
      // Also without shared quotes, where nothing writes to it: a price is asked of the upstream then.
      LAST_PRICE_TABLE: names.cache,
      TRADE_EVENTS_URL: eventsUrl,
      TRADE_EVENTS_TABLE: names.events,
      TRADE_EVENTS_HISTORY_TABLE: names.history,
      TRADE_EVENTS_BUS: names.eventsBus,
    }),
  };
}
