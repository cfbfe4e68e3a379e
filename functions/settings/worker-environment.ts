/** The settings of workers, besides those of every function, from their environment variables. */

import type { Operation } from '../../lib/catalogue/operation.ts';
import { cancelOrder } from '../../lib/catalogue/order-cancels.ts';
import { orderReadOperations } from '../../lib/gateway/order-reads.ts';
import { subscriptionOperations } from '../../lib/market-stream/calls.ts';
import { eventsUrlFault, marketStreamUrlFault } from '../../lib/upstream/base-url.ts';
import {
  type Environment,
  type Read,
  readFunctionSettings,
  readWhole,
  requiredOf,
  unusedReserve,
} from './environment.ts';
import { compareMinutes, marketStreamSessions, usualCompareMinutes } from './ranges.ts';
import type {
  FunctionSettings,
  MarketStreamSettings,
  MassCancelSettings,
  OrderAuditSettings,
  ReconcilingSettings,
  TradeEventsSettings,
  TradingStopSettings,
} from './settings.ts';

/** What the mass cancel asks the upstream for: the stack gives it the limits and paths of these. */
export const massCancelOperations: readonly Operation[] = /* @__PURE__ */ orderReadOperations.concat(
  cancelOrder,
);

/** The variables of one worker; each fault is a sentence. */
const reading = <Settings>(
  env: Environment,
  read: (required: (name: string) => string, faults: string[]) => Settings,
): Read<Settings> => {
  const faults: string[] = [];
  const settings = read(requiredOf(env, faults), faults);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, settings };
};

/** Of a worker that holds the app key itself: no caller comes to it whom a directory could know. */
function holderSettings(
  env: Environment,
  operations: readonly Operation[],
  faults: string[],
): FunctionSettings {
  const own = {
    ...env,
    ACCESS_TABLE: undefined,
    IDENTITY_KEY_SECRET_ID: undefined,
    ORDER_JOURNAL_TABLE: undefined,
  };
  const read = readFunctionSettings(own, operations);
  if (!read.ok) {
    faults.unshift(...read.faults);
    return {} as FunctionSettings;
  }
  const { limiter } = read.settings;
  // What waits for a limit may wait for the table, too.
  const reserve = unusedReserve(limiter?.reserve);
  return { ...read.settings, limiter: limiter && { ...limiter, reserve } };
}

export const readSettlementSettings = (env: Environment): Read<ReconcilingSettings> =>
  reading(env, (required, faults) => ({
    auditTable: required('ORDER_AUDIT_TABLE'),
    controlsTable: env.TRADING_CONTROLS_TABLE || undefined,
    usersTable: env.ACCESS_TABLE || undefined,
    journalTable: required('ORDER_JOURNAL_TABLE'),
    identityKeySecretId: required('IDENTITY_KEY_SECRET_ID'),
    function: holderSettings(env, orderReadOperations, faults),
  }));

export const readMassCancelSettings = (env: Environment): Read<MassCancelSettings> =>
  reading(env, (required, faults) => ({
    journalTable: required('ORDER_JOURNAL_TABLE'),
    controlsTable: required('TRADING_CONTROLS_TABLE'),
    identityKeySecretId: required('IDENTITY_KEY_SECRET_ID'),
    function: holderSettings(env, massCancelOperations, faults),
  }));

export const readOrderAuditSettings = (env: Environment): Read<OrderAuditSettings> =>
  reading(env, (required) => ({
    tableName: required('ORDER_AUDIT_TABLE'),
    busName: required('ORDER_EVENTS_BUS'),
    identityKeySecretId: required('IDENTITY_KEY_SECRET_ID'),
  }));

export const readTradingStopSettings = (env: Environment): Read<TradingStopSettings> =>
  reading(env, (required, faults) => {
    const { TRADING_STOP_CANCELS_OPEN: cancels = '' } = env;
    if (!['', 'true'].includes(cancels)) faults.push('TRADING_STOP_CANCELS_OPEN: neither empty nor true');
    return {
      tableName: required('TRADING_CONTROLS_TABLE'),
      identityKeySecretId: required('IDENTITY_KEY_SECRET_ID'),
      cancelOpen: cancels === 'true',
    };
  });

export const readMarketStreamSettings = (env: Environment): Read<MarketStreamSettings> =>
  reading(env, (required, faults) => {
    const url = required('MARKET_STREAM_URL');
    const urlFault = url ? marketStreamUrlFault(url) : undefined;
    if (urlFault) faults.push(`MARKET_STREAM_URL: ${urlFault}`);
    return {
      url,
      sessions:
        readWhole(env, 'MARKET_STREAM_SESSIONS', marketStreamSessions, faults) ?? marketStreamSessions[1],
      tableName: required('CACHE_TABLE'),
      function: holderSettings(env, subscriptionOperations, faults),
    };
  });

export const readTradeEventsSettings = (env: Environment): Read<TradeEventsSettings> =>
  reading(env, (required, faults) => {
    const url = required('TRADE_EVENTS_URL');
    const urlFault = url ? eventsUrlFault(url) : undefined;
    if (urlFault) faults.push(`TRADE_EVENTS_URL: ${urlFault}`);
    const minutes = readWhole(env, 'TRADE_EVENTS_COMPARE_EVERY_MINUTES', compareMinutes, faults);
    return {
      url,
      tableName: required('TRADE_EVENTS_TABLE'),
      busName: required('TRADE_EVENTS_BUS'),
      identityKeySecretId: required('IDENTITY_KEY_SECRET_ID'),
      compareEveryMs: 60_000 * (minutes ?? usualCompareMinutes),
      historyTable: env.TRADE_EVENTS_HISTORY_TABLE || undefined,
      function: holderSettings(env, orderReadOperations, faults),
    };
  });
