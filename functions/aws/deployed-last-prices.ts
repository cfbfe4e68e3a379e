/**
 * Last prices for the pre-trade checks of a deployed function: what the function of market data shares in DynamoDB, or
 * one call that counts in the same limiter as its calls.
 */

import type { SecretSource, Send } from '../../lib/gateway/index.ts';
import { createGatewayLastPrices } from '../../lib/gateway/last-prices.ts';
import type { LastPrices } from '../../lib/guard-rails/last-price.ts';
import { createDeployedLimiter, maxInstances } from './deployed-limiter.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoSnapshotReads } from './dynamo-snapshot-reads.ts';
import type { FunctionSettings, LastPriceSettings, LimiterSettings } from './environment.ts';
import { describe, type Log } from './log.ts';
import { onDemand } from './on-demand.ts';
import { storePartition } from './snapshot-keys.ts';

export interface DeployedLastPricesParts {
  readonly settings: Pick<
    FunctionSettings,
    'upstreamBaseUrl' | 'upstreamPaths' | 'upstreamTimeoutMs' | 'limiter' | 'lastPrices'
  >;
  readonly functionName: string;
  readonly client: DynamoSender;
  readonly secrets: SecretSource;
  readonly send: Send;
  readonly log: Log;
}

/**
 * @returns undefined where the stack shares no quotes: then nothing here reads a table or asks the upstream
 *
 * @example
 * const read = readGatewaySettings(env, operations, getStockSnapshots);
 * if (read.ok) createDeployedLastPrices({ ...read, functionName, client, secrets, send, log });
 */
export function createDeployedLastPrices({
  settings,
  functionName,
  client,
  secrets,
  send,
  log,
}: DeployedLastPricesParts): LastPrices | undefined {
  const {
    upstreamBaseUrl,
    upstreamPaths,
    upstreamTimeoutMs,
    limiter: counted,
    lastPrices: shared,
  } = settings;
  if (!shared || !counted) return undefined;
  // For the first price that is needed: where no limit needs one, a cold start does not pay for it.
  const made = onDemand(() => create(shared, counted));
  return {
    async lastPrice(symbol, maxAgeMs, endBy) {
      const { lastPrices, metrics } = made();
      const found = await lastPrices.lastPrice(symbol, maxAgeMs, endBy);
      metrics.write();
      return found;
    },
  };

  function create({ tableName, snapshots }: LastPriceSettings, counted: LimiterSettings) {
    const { limiter, tightening, metrics } = createDeployedLimiter(
      // The reserve is divided among functions that serve quotes. Here it stays reserved, and is not used.
      { ...counted, ...(counted.reserve && { reserve: { ...counted.reserve, instances: maxInstances } }) },
      [snapshots],
      client,
      functionName,
      log,
    );
    const path = upstreamPaths?.[snapshots.id];
    const lastPrices = createGatewayLastPrices(snapshots, {
      upstreamBaseUrl,
      secrets,
      send,
      limiter,
      tightening,
      operationLimits: counted.operationLimits,
      upstreamLimits: counted.upstreamLimits,
      ...(path !== undefined && { upstreamPaths: { [snapshots.id]: path } }),
      ...(upstreamTimeoutMs !== undefined && { upstreamTimeoutMs }),
      snapshots: (partition) =>
        createDynamoSnapshotReads({
          client,
          tableName,
          partition: storePartition(upstreamBaseUrl, partition),
        }),
      reportFailure: (failure) =>
        log({
          level: 'warn',
          event: 'last_price_not_read',
          step: failure.step,
          ...('code' in failure ? { code: failure.code } : describe(failure.cause)),
        }),
    });
    return { lastPrices, metrics };
  }
}
