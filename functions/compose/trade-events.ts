/**
 * The listener of trade events: the upstream's stream, a table and a bus around the core, and beside it a gateway of its
 * own for the orders.
 */

import { toCredential } from '../../lib/gateway/credential.ts';
import { orderReadOperations } from '../../lib/gateway/orders/reads.ts';
import { keptBus } from '../../lib/trade-events/history.ts';
import {
  createTradeEventListener,
  type RunReport,
  type StreamCredential,
  type TradeEventBus,
  type TradeEventListenerWiring,
} from '../../lib/trade-events/index.ts';
import { describe } from '../log/log.ts';
import { createTradeEventsMetrics } from '../log/trade-events-metrics.ts';
import { type FunctionSettings, holderSettings } from '../settings/function-settings.ts';
import { type Parts, readParts } from '../settings/parts.ts';
import { composeAppSecret, composeIdentity } from './credential.ts';
import { composeOrderReads } from './holder.ts';
import type { TradeEventPorts } from './ports.ts';
import { type Composition, fails, type WorkerHandler } from './start.ts';

export type TradeEventsHandler = WorkerHandler<RunReport>;

type TradeEventsSettings = Parts['TRADE_EVENTS'] &
  Parts['IDENTITY'] & {
    readonly function: FunctionSettings;
    /** The table of what streams of trade events tell; undefined where there are none. */
    readonly historyTable: string | undefined;
  };

/** Of its time limit, what is left for the hand-over: a minute of fifteen. */
const handOverPart = 1 / 15;

function composeTradeEvents(settings: TradeEventsSettings, ports: TradeEventPorts): TradeEventsHandler {
  const { log, clock, sleep, functionName } = ports;
  const metrics = createTradeEventsMetrics(log, { functionName, clock });
  const secrets = composeAppSecret(settings.function.secretId, ports);
  const identity = composeIdentity(settings.identityKeySecretId, ports);
  const bus = ports.bus(settings.busName, (error) =>
    log({ level: 'error', event: 'trade_event_not_published', ...describe(error) }),
  );
  const history =
    settings.historyTable === undefined
      ? undefined
      : ports.eventHistory(settings.historyTable, identity.sealer);
  const notKept = (error: unknown) =>
    log({ level: 'error', event: 'trade_event_not_kept', ...describe(error) });
  const listener = createTradeEventListener({
    transport: ports.transport(settings.url),
    orders: composeOrderReads(settings.function, ports, secrets, undefined),
    store: ports.eventStore(settings.tableName, identity.sealer),
    bus: counted(history ? keptBus(bus, history, { clock, onFailure: notKept }) : bus, metrics.refused),
    names: identity.names,
    readCredential: async () => toStreamCredential(await secrets.read(), clock),
    tuning: { compareEveryMs: settings.compareEveryMs },
    report: metrics.report,
    clock,
    sleep,
  } satisfies TradeEventListenerWiring);
  return async (_event, context) => {
    const remaining = context.getRemainingTimeInMillis();
    const { ending } = context;
    const until = clock() + remaining * (1 - handOverPart);
    // Ends what hangs before Lambda does: a function that is cut off releases no lease.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), remaining * (1 - handOverPart / 4));
    // A process that ends does not wait for it.
    timer.unref();
    try {
      const report = await listener.run({
        until,
        signal: AbortSignal.any([late.signal, ...(ending ? [ending] : [])]),
      });
      metrics.ran(report);
      return report;
    } finally {
      clearTimeout(timer);
    }
  };
}

const counted = (bus: TradeEventBus, refused: (events: number) => void): TradeEventBus => ({
  async publish(events) {
    const taken = await bus.publish(events);
    const left = taken.filter((isTaken) => !isTaken).length;
    if (left > 0) refused(left);
    return taken;
  },
});

/** @throws Error whose code says what is wrong with the secret, and nothing of its text */
function toStreamCredential(text: string | undefined, clock: () => number): StreamCredential {
  const read = toCredential(text, { clock });
  if (!read.ok) throw Object.assign(new Error(read.code), { code: read.code });
  const { app_key: appKey, app_secret } = JSON.parse(text ?? '') as Record<string, string>;
  const { accessToken } = read.credential;
  return { appKey: appKey ?? '', appSecret: app_secret ?? '', ...(accessToken && { accessToken }) };
}

export const tradeEvents: Composition<TradeEventsSettings, TradeEventPorts, TradeEventsHandler> = {
  read: (env) =>
    readParts(env, (parts) => ({
      ...parts.required('TRADE_EVENTS'),
      ...parts.required('IDENTITY'),
      historyTable: parts.read('EVENT_HISTORY')?.tableName,
      function: holderSettings(parts, orderReadOperations),
    })),
  compose: composeTradeEvents,
  wrong: fails,
};
