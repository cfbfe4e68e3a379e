/**
 * Each function and worker, once: how its settings are read from its environment, what it is composed of, and what it
 * does while its environment is wrong. Lambda, the local run and tests start these with ports of theirs.
 */

import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { refusalResponse } from '../../lib/gateway/index.ts';
import type { LookupHandler } from '../events/lookup-handler.ts';
import { toGatewayRequest, toProxyResult } from '../events/rest-proxy.ts';
import { type Log, requestEntry } from '../log/log.ts';
import { type Environment, type Read, readGatewaySettings } from '../settings/environment.ts';
import { readLookupSettings } from '../settings/lookup-environment.ts';
import type {
  FunctionSettings,
  LookupSettings,
  MassCancelSettings,
  OrderAuditSettings,
  SettlementSettings,
  TradeEventsSettings,
  TradingStopSettings,
} from '../settings/settings.ts';
import {
  readAuthorizerSettings,
  readMassCancelSettings,
  readOrderAuditSettings,
  readSettlementSettings,
  readTokenCheckSettings,
  readTradeEventsSettings,
  readTradingStopSettings,
} from '../settings/worker-environment.ts';
import { composeAuthorizer, NotJudged, type TokenAuthorizer } from './authorizer.ts';
import { composeGroup, type GroupHandler, type Offer } from './group.ts';
import { composeLookups } from './lookups.ts';
import { composeMassCancels, type MassCancelHandler } from './mass-cancels.ts';
import { type ComposedAudit, composeOrderAudit } from './order-audit.ts';
import type {
  AuthorizerPorts,
  GatewayPorts,
  Host,
  JournalPorts,
  LookupPorts,
  MassCancelPorts,
  OrderAuditPorts,
  SecretPorts,
  TradeEventPorts,
  TradingStopPorts,
} from './ports.ts';
import { composeSettlement, type SettlementHandler } from './settlement.ts';
import { composeTokenCheck, notChecked, type TokenCheckHandler } from './token-check.ts';
import { composeTradeEvents, type TradeEventsHandler } from './trade-events.ts';
import { composeTradingStop, type TradingStopHandler } from './trading-stop.ts';

/** How one function comes about. */
export interface Composition<Settings, Ports extends Host, Handler> {
  readonly read: (env: Environment) => Read<Settings>;
  readonly compose: (settings: Settings, ports: Ports) => Handler;
  /** What the function does whose environment is wrong. */
  readonly wrong: (log: Log) => Handler;
}

/**
 * A wrong environment is one line in the log when the function starts. If it threw, Lambda would restart the function
 * again and again, and API Gateway would answer without a reason.
 *
 * @example
 * export const handler = start(settlement, process.env, journalPorts(lambdaHost()));
 */
export function start<Settings, Ports extends Host, Handler>(
  { read, compose, wrong }: Composition<Settings, Ports, Handler>,
  env: Environment,
  ports: Ports,
): Handler {
  const found = read(env);
  if (found.ok) return compose(found.settings, ports);
  ports.log({ level: 'error', event: 'wrong_configuration', faults: found.faults });
  return wrong(ports.log);
}

/** Every invocation fails, which alarms hear. */
const fails = () => () => Promise.reject(new Error('wrong_configuration'));

/** With a wrong environment, every request is answered with a problem of the gateway. */
export const group = <Ports extends GatewayPorts>(
  offer: Offer<Ports>,
): Composition<FunctionSettings, Ports, GroupHandler> => ({
  read: (env) => readGatewaySettings(env, [...offer.operations, ...offer.lookUps], offer.checks),
  compose: (settings, ports) => composeGroup(offer, settings, ports),
  wrong: (log) => async (event) => {
    const { requestId, headers } = await toGatewayRequest(event);
    const response = refusalResponse({ code: 'gateway_error' }, requestId, headers.accept);
    const { status } = response;
    log(requestEntry({ requestId, status, code: 'gateway_error', attempts: 0, milliseconds: 0 }));
    return toProxyResult(response);
  },
});

/**
 * With a wrong environment no message is done: each comes back, and finally goes to the dead letters, from where the
 * operator redrives it when the deployment is right.
 *
 * @param catalogue every operation that a deployer can open
 */
export const lookups = (
  catalogue: readonly Operation[],
): Composition<LookupSettings, LookupPorts, LookupHandler> => ({
  read: (env) => readLookupSettings(env, catalogue),
  compose: composeLookups,
  wrong: fails,
});

export const settlement: Composition<SettlementSettings, JournalPorts, SettlementHandler> = {
  read: readSettlementSettings,
  compose: composeSettlement,
  wrong: fails,
};

export const massCancels: Composition<MassCancelSettings, MassCancelPorts, MassCancelHandler> = {
  read: readMassCancelSettings,
  compose: composeMassCancels,
  wrong: fails,
};

export const tradeEvents: Composition<TradeEventsSettings, TradeEventPorts, TradeEventsHandler> = {
  read: readTradeEventsSettings,
  compose: composeTradeEvents,
  wrong: fails,
};

/** With a wrong environment the changes wait in the stream of the journal's table, for a day. */
export const orderAudit: Composition<OrderAuditSettings, OrderAuditPorts, ComposedAudit | undefined> = {
  read: readOrderAuditSettings,
  compose: composeOrderAudit,
  wrong: () => undefined,
};

export const tokenCheck: Composition<FunctionSettings, SecretPorts, TokenCheckHandler> = {
  read: readTokenCheckSettings,
  compose: composeTokenCheck,
  wrong: () => () => Promise.reject(new Error(notChecked)),
};

export const tradingStop: Composition<TradingStopSettings, TradingStopPorts, TradingStopHandler> = {
  read: readTradingStopSettings,
  compose: composeTradingStop,
  wrong: fails,
};

export const authorizer: Composition<AuthSettings, AuthorizerPorts, TokenAuthorizer> = {
  read: readAuthorizerSettings,
  compose: composeAuthorizer,
  wrong: () => () => Promise.reject(new NotJudged()),
};
