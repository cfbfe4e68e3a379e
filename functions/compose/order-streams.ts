/** The function of streams of trade events: it reads who calls and what was kept of their accounts, and no app secret. */

import { streamOrderEvents } from '../../lib/catalogue/live-orders.ts';
import { createCore, type Gateway } from '../../lib/gateway/core.ts';
import type { CoreOptions } from '../../lib/gateway/options.ts';
import { accessStep } from '../../lib/gateway/who.ts';
import { orderEventsStep } from '../../lib/live/order-events.ts';
import { createStreamShares } from '../../lib/live/stream-shares.ts';
import type { CorsOrigins } from '../events/cors.ts';
import { describe, requestEntry } from '../log/log.ts';
import { type AccessSettings, readAuth } from '../settings/function-settings.ts';
import { orderStreamPartition, readParts } from '../settings/parts.ts';
import { composeAccess, composeVerifier } from './access.ts';
import { composeIdentity } from './credential.ts';
import { group } from './group.ts';
import { ofAccounts } from './offers.ts';
import type { OrderStreamPorts } from './ports.ts';
import type { Composition } from './start.ts';
import { refusingStreams, type StreamHandler, streamHandler } from './stream-handler.ts';

interface OrderStreamSettings {
  readonly access: AccessSettings;
  readonly historyTable: string;
  readonly corsOrigins: CorsOrigins;
  readonly maxStreams: number;
}

/** @param perCaller streams of one caller, in all processes */
export function composeOrderStreams(
  { access, historyTable }: Pick<OrderStreamSettings, 'access' | 'historyTable'>,
  ports: OrderStreamPorts,
  perCaller: number,
): Gateway {
  const { log, clock, sleep } = ports;
  const identity = composeIdentity(access.identityKeySecretId, ports);
  const options: CoreOptions = {
    operations: [streamOrderEvents],
    clock,
    access: accessStep(composeAccess(access, identity, ports, composeVerifier)),
    events: orderEventsStep({
      history: ports.eventHistory(historyTable, identity.sealer),
      names: identity.names,
      clock,
      sleep,
      shares: createStreamShares(ports.streams(historyTable, orderStreamPartition), {
        max: perCaller,
        clock,
      }),
      onFailure: (error) => log({ level: 'warn', event: 'trade_events_not_read', ...describe(error) }),
    }),
    report: (report) => log(requestEntry(report)),
    // It asks no upstream, and has no secret to ask one with.
    upstreamBaseUrl: 'https://upstream.invalid',
    secrets: { read: () => Promise.reject(new Error('streams of trade events read no app secret')) },
  };
  return createCore(options);
}

export const orderStreams: Composition<OrderStreamSettings, OrderStreamPorts, StreamHandler> = {
  read: (env) =>
    readParts(env, (parts) => ({
      access: { ...parts.required('ACCESS'), auth: readAuth(parts) },
      historyTable: parts.required('EVENT_HISTORY').tableName,
      corsOrigins: parts.read('CORS') ?? [],
      maxStreams: parts.required('LIVE').maxStreams,
    })),
  compose(settings, ports) {
    const { corsOrigins, maxStreams } = settings;
    const gateway = composeOrderStreams(settings, ports, Math.ceil(maxStreams / 10));
    return streamHandler(gateway, { corsOrigins, networkPrefix: undefined }, ports);
  },
  wrong: (log) => refusingStreams(group(ofAccounts([streamOrderEvents])).wrong(log)),
};
