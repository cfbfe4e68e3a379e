/**
 * Last prices for the pre-trade checks of a function: what the function of market data shares, or one call that counts in
 * the same limiter as its calls.
 */

import { type SecretSource, upstreamPathsOf } from '../../lib/gateway/index.ts';
import { createGatewayLastPrices, type GatewayLastPricesOptions } from '../../lib/gateway/last-prices.ts';
import type { LastPrices } from '../../lib/guard-rails/last-price.ts';
import { onDemand } from '../../lib/once.ts';
import { describe } from '../log/log.ts';
import type { FunctionSettings, LastPriceSettings, LimiterSettings } from '../settings/settings.ts';
import { every } from './every.ts';
import { upstreamName } from './gateway.ts';
import { composeLimiter, maxInstances } from './limiter.ts';
import type { GatewayPorts } from './ports.ts';

/** @returns undefined where the stack shares no quotes: then nothing here reads a table or asks the upstream */
export function composeLastPrices(
  settings: FunctionSettings,
  ports: GatewayPorts,
  secrets: SecretSource,
): LastPrices | undefined {
  const { limiter, lastPrices } = settings;
  if (!lastPrices || !limiter) return undefined;
  // For the first price that is needed: where no limit needs one, a cold start does not pay for it.
  const made = onDemand(() => create(settings, lastPrices, limiter, ports, secrets));
  return {
    async lastPrice(symbol, maxAgeMs, endBy) {
      const { lastPrices, metrics } = made();
      const found = await lastPrices.lastPrice(symbol, maxAgeMs, endBy);
      metrics.write();
      return found;
    },
  };
}

function create(
  { upstreamBaseUrl, upstreamPaths, upstreamTimeoutMs }: FunctionSettings,
  { tableName, snapshots }: LastPriceSettings,
  limits: LimiterSettings,
  ports: GatewayPorts,
  secrets: SecretSource,
) {
  const { send, clock, log } = ports;
  // The reserve is divided among functions that serve quotes. Here it stays reserved, and is not used.
  const reserve = limits.reserve && { ...limits.reserve, instances: maxInstances };
  const { limiter, tightening, metrics } = composeLimiter(
    { ...limits, reserve },
    [snapshots],
    ports,
    undefined,
  );
  const lastPrices = createGatewayLastPrices(
    snapshots,
    every<GatewayLastPricesOptions>({
      upstreamBaseUrl,
      upstreamPaths: upstreamPathsOf(upstreamPaths, [snapshots]),
      upstreamTimeoutMs,
      secrets,
      send,
      clock,
      limiter,
      tightening,
      operationLimits: limits.operationLimits,
      upstreamLimits: limits.upstreamLimits,
      snapshots: (partition) => ports.snapshotReads(tableName, upstreamName(upstreamBaseUrl), partition),
      reportFailure: (failure) =>
        log({
          level: 'warn',
          event: 'last_price_not_read',
          step: failure.step,
          ...('code' in failure ? { code: failure.code } : describe(failure.cause)),
        }),
      after: undefined,
      random: undefined,
      breaker: undefined,
      nonce: undefined,
      maxAnswerBytes: undefined,
    }),
  );
  return { lastPrices, metrics };
}
