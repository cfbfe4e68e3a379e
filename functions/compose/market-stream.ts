/** The listener of the market stream: the upstream's broker around the core, and what instances share of quotes. */

import { snapshotPartition, WatchedSnapshots } from '../../lib/cache/snapshots/index.ts';
import { getStockSnapshots } from '../../lib/catalogue/market-data/snapshots.ts';
import { accountOf, toCredential } from '../../lib/gateway/credential.ts';
import { createLowPriorityLimiter } from '../../lib/limiter/low-priority.ts';
import type { RunReport } from '../../lib/listener/shift.ts';
import { createSubscriptionCalls, subscriptionOperations } from '../../lib/market-stream/calls.ts';
import { createMarketStreamListener } from '../../lib/market-stream/listener.ts';
import type { AccountStream } from '../../lib/market-stream/ports.ts';
import { createMarketStreamMetrics } from '../log/market-stream-metrics.ts';
import { type FunctionSettings, holderSettings } from '../settings/function-settings.ts';
import { type Parts, readParts } from '../settings/parts.ts';
import { composeAppSecret } from './credential.ts';
import { composeGateway, upstreamName } from './gateway.ts';
import type { MarketStreamPorts } from './ports.ts';
import { type Composition, fails, type WorkerHandler } from './start.ts';

type MarketStreamHandler = WorkerHandler<RunReport>;

type MarketStreamSettings = Parts['MARKET_STREAM'] & { readonly function: FunctionSettings };

/** Of its time limit, what is left for the hand-over: a minute of fifteen. */
const handOverPart = 1 / 15;
/** While less than two permits of the limit are left, a subscription waits: clients that read come first. */
const lowPriority = { reserve: 2, pauseMs: 2000 };

function composeMarketStream(settings: MarketStreamSettings, ports: MarketStreamPorts): MarketStreamHandler {
  const { clock, sleep, log, functionName } = ports;
  const { upstreamBaseUrl, secretId } = settings.function;
  const { tableName } = settings;
  const metrics = createMarketStreamMetrics(log, { functionName, clock });
  const secrets = composeAppSecret(secretId, ports);
  const shared = [tableName, upstreamName(upstreamBaseUrl)] as const;

  async function account(): Promise<AccountStream> {
    const read = toCredential(await secrets.read(), { clock });
    if (!read.ok) throw Object.assign(new Error(read.code), { code: read.code });
    const { appKey } = read.credential;
    const partition = snapshotPartition(await accountOf(read.credential), getStockSnapshots);
    // Of its own: one that knows another app key would sign with it for minutes, and the upstream would know no session of it.
    const gateway = composeGateway(settings.function, ports, {
      operations: subscriptionOperations,
      lookUps: [],
      lowPriority: createLowPriorityLimiter({ ...lowPriority, clock }),
      secrets,
      access: 'single-user',
      cache: undefined,
      orders: undefined,
    });
    return {
      appKey,
      async isCurrent() {
        const now = toCredential(await secrets.read(), { clock });
        // An empty secret shuts the listener, as it shuts functions; with a malformed one they go on.
        return now.ok ? now.credential.appKey === appKey : now.code !== 'secret_not_set';
      },
      lease: `market-stream#${shared[1]}#${partition}`,
      log: ports.streamed(...shared)(partition),
      demand: new WatchedSnapshots(ports.snapshots(...shared)(partition), { clock, sleep }),
      calls: createSubscriptionCalls({ gateway, clock }),
    };
  }

  const listener = createMarketStreamListener({
    transport: ports.marketStream(settings.url),
    store: ports.leases(tableName),
    account,
    report: metrics.report,
    clock,
    sleep,
    tuning: { sessions: settings.sessions },
  });
  return async (_event, context) => {
    const { ending } = context;
    const until = clock() + context.getRemainingTimeInMillis() * (1 - handOverPart);
    const run = await listener.run({ until, ...(ending && { signal: ending }) });
    metrics.ran(run);
    return run;
  };
}

export const marketStream: Composition<MarketStreamSettings, MarketStreamPorts, MarketStreamHandler> = {
  read: (env) =>
    readParts(env, (parts) => ({
      ...parts.required('MARKET_STREAM'),
      function: holderSettings(parts, subscriptionOperations),
    })),
  compose: composeMarketStream,
  wrong: fails,
};
