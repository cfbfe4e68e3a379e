/** The parts of a deployment beside its API: tables of orders, the functions that answer callers, and the workers. */

import { Annotations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { workerRows } from '../../functions/rows.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';
import { areJournaled, haveLookUps } from '../../lib/gateway/look-ups.ts';
import { EventHistory } from './event-history.ts';
import { groupFunctions } from './group-functions.ts';
import { streamsInWords } from './live-config.ts';
import { Lookups } from './lookups.ts';
import { MarketStream } from './market-stream.ts';
import { MassCancels } from './mass-cancels.ts';
import { OrderAudit } from './order-audit.ts';
import { OrderJournal } from './order-journal.ts';
import { OrderSettlement } from './order-settlement.ts';
import type { Shared } from './shared.ts';
import { TokenCheck } from './token-check.ts';
import { TradeEvents } from './trade-events.ts';
import { TradingControls } from './trading-controls.ts';
import { TradingStop } from './trading-stop.ts';

/** @returns parts by their member of the construct; undefined ones are not deployed */
export function createParts(scope: Construct, shared: Shared) {
  const { config, operations, removalPolicy } = shared;
  const { live, stopOnAlarms, events, accessToken, marketStream: channel } = config;

  // The records of orders, and the stops of trading.
  const orderJournal = areJournaled(operations)
    ? new OrderJournal(scope, 'OrderJournal', { removalPolicy })
    : undefined;
  const journal = orderJournal?.table;
  const orderAudit = journal && new OrderAudit(scope, 'OrderAudit', shared, journal);
  const tradingControls = operations.some(isGuarded)
    ? new TradingControls(scope, 'TradingControls', shared)
    : undefined;
  const controls = tradingControls?.table;
  const tradingStop =
    controls && stopOnAlarms && new TradingStop(scope, 'TradingStop', shared, stopOnAlarms, controls);

  // The functions that answer callers, and those that work by themselves.
  const history = live?.streams['order-streams'] ? new EventHistory(scope, 'TradeEventHistory') : undefined;
  const functions = groupFunctions(scope, {
    shared,
    journal: orderJournal,
    controls: tradingControls,
    history,
  });
  for (const said of live ? streamsInWords(live) : []) Annotations.of(scope).addInfo(said);
  const lookups = events && new Lookups(scope, 'Lookups', { shared, config: events });
  const tokenCheck = accessToken && new TokenCheck(scope, 'AccessToken', shared, accessToken);
  const tradeEvents =
    config.tradeEvents && new TradeEvents(scope, 'TradeEvents', shared, config.tradeEvents, history);
  const marketStream = channel && new MarketStream(scope, 'MarketStream', shared, channel);
  const orderSettlement =
    journal && orderAudit && haveLookUps(operations)
      ? new OrderSettlement(scope, 'OrderSettlement', shared, journal, orderAudit.table, controls)
      : undefined;
  const { events: detailType = [] } = workerRows['order-settlement'];
  if (orderSettlement) tradeEvents?.rule('Settle', { detailType }, orderSettlement.target());
  const massCancels =
    orderJournal && controls
      ? new MassCancels(scope, 'MassCancels', shared, controls, orderJournal)
      : undefined;
  return {
    functions,
    orderJournal,
    orderAudit,
    tradingControls,
    tradingStop,
    lookups,
    tokenCheck,
    tradeEvents,
    marketStream,
    orderSettlement,
    massCancels,
  };
}
