/**
 * Last prices for the pre-trade checks of a function: what the function of market data shares, or one call that counts in
 * the same limiter as its calls.
 */

import { type SecretSource, upstreamPathsOf } from '../../lib/gateway/index.ts';
import {
  createGatewayLastPrices,
  type GatewayLastPricesWiring,
  type PricedKind,
} from '../../lib/gateway/orders/last-prices.ts';
import type { LastPrices } from '../../lib/guard-rails/last-price.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { describe } from '../log/log.ts';
import {
  type FunctionSettings,
  type LastPriceSettings,
  type LimiterSettings,
  unusedReserve,
} from '../settings/function-settings.ts';
import { upstreamName } from './gateway.ts';
import { composeLimiter } from './limiter.ts';
import type { OrderPorts } from './ports.ts';

/** @returns undefined where the stack shares no quotes: then nothing here reads a table or asks the upstream */
export function composeLastPrices(
  settings: FunctionSettings,
  ports: OrderPorts,
  secrets: SecretSource,
): Readonly<Record<PricedKind, LastPrices>> | undefined {
  const { limiter, lastPrices } = settings;
  if (!lastPrices || !limiter) return undefined;
  const { quotes } = lastPrices;
  // The reserve is divided among functions that serve quotes.
  const reserve = unusedReserve(limiter.reserve);
  // For the first price that is needed: where no limit needs one, a cold start does not pay for it.
  const limits = onDemand(() =>
    composeLimiter({ ...limiter, reserve }, Object.values(quotes), ports, undefined),
  );
  const pricesOf = (kind: PricedKind): LastPrices => {
    const made = onDemand(() =>
      create(kind, settings, lastPrices, { ...limiter, ...limits() }, ports, secrets),
    );
    return {
      async lastPrice(...asked) {
        const found = await made().lastPrice(...asked);
        limits().metrics.write();
        return found;
      },
    };
  };
  return { stock: pricesOf('stock'), option: pricesOf('option') };
}

type Limits = LimiterSettings & Pick<ReturnType<typeof composeLimiter>, 'limiter' | 'tightening'>;

function create(
  kind: PricedKind,
  { upstreamBaseUrl, upstreamPaths, upstreamTimeoutMs }: FunctionSettings,
  { tableName, quotes }: LastPriceSettings,
  { limiter, tightening, operationLimits, upstreamLimits }: Limits,
  { send, digests, clock, log, snapshotReads }: OrderPorts,
  secrets: SecretSource,
): LastPrices {
  const operation = quotes[kind];
  const wiring: GatewayLastPricesWiring = {
    upstreamBaseUrl,
    upstreamPaths: upstreamPathsOf(upstreamPaths, [operation]),
    upstreamTimeoutMs,
    secrets,
    send,
    clock,
    limiter,
    tightening,
    operationLimits,
    upstreamLimits,
    // Only what comes by symbol is shared.
    snapshots:
      operation.freshness === 'by-symbol'
        ? (partition) => snapshotReads(tableName, upstreamName(upstreamBaseUrl), partition)
        : undefined,
    reportFailure: (failure) =>
      log({
        level: 'warn',
        event: 'last_price_not_read',
        step: failure.step,
        ...('code' in failure ? { code: failure.code } : describe(failure.cause)),
      }),
    digests,
  };
  return createGatewayLastPrices(operation, wiring, kind);
}
