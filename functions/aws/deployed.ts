/** A group's handler as it is deployed: settings from the environment, Secrets Manager, DynamoDB, Node's sockets. */

import type { Operation } from '../../lib/catalogue/operation.ts';
import type { SymbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { type GatewayOptions, refusalResponse } from '../../lib/gateway/index.ts';
import type { LowPriorityLimiter } from '../../lib/lookups/index.ts';
import { createDeployedCache } from './deployed-cache.ts';
import { createDeployedLimiter } from './deployed-limiter.ts';
import { createDynamoClient, type DynamoSender } from './dynamo-client.ts';
import { type Environment, type FunctionSettings, readFunctionSettings } from './environment.ts';
import { createGroupHandler, type GroupHandler } from './group-handler.ts';
import { describe, type Log, requestEntry, writeLog } from './log.ts';
import { createNodeSend } from './node-send.ts';
import { onDemand } from './on-demand.ts';
import { toGatewayRequest, toProxyResult } from './rest-proxy.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';

export interface DeployedParts {
  /** Not called for a function without a table. */
  readonly client: () => DynamoSender;
  /** The upstream's lists of symbols, for a function that serves snapshots. */
  readonly listing?: SymbolListing;
  /** Present when the function's requests can wait for those of others. */
  readonly lowPriority?: LowPriorityLimiter;
}

/**
 * A wrong environment is one line in the log when the function starts, and a problem of the gateway to every
 * request. If it threw, Lambda would restart the function again and again, and API Gateway would answer without a
 * reason.
 */
export function deployedHandler(
  operations: readonly Operation[],
  env: Environment = process.env,
  log: Log = writeLog,
  listing?: SymbolListing,
): GroupHandler {
  const read = readFunctionSettings(env, operations);
  if (!read.ok) {
    log({ level: 'error', event: 'wrong_configuration', faults: read.faults });
    return misconfigured(log);
  }
  const { corsOrigins, cache } = read.settings;
  const options = gatewayOptions(read.settings, operations, env, log, {
    client: onDemand(createDynamoClient),
    ...(listing && { listing }),
  });
  return createGroupHandler({
    ...options,
    corsOrigins,
    ...(cache && { networkPrefix: cache.networkPrefix }),
  });
}

/** The gateway of every deployed function. */
export function gatewayOptions(
  { secretId, limiter: limiterSettings, cache, corsOrigins: _, ...settings }: FunctionSettings,
  operations: readonly Operation[],
  env: Environment,
  log: Log,
  { client, listing, lowPriority }: DeployedParts,
): GatewayOptions {
  const name = env.AWS_LAMBDA_FUNCTION_NAME ?? '';
  const deployed =
    limiterSettings &&
    createDeployedLimiter(limiterSettings, operations, client(), name, log, lowPriority?.observe);
  return {
    ...settings,
    operations,
    send: createNodeSend(),
    secrets: createSecretsManagerSource({
      secretId,
      onFailure: (error, version) =>
        log({ level: 'error', event: 'secret_not_read', version, ...describe(error) }),
    }),
    readSecretAhead: true,
    ...(deployed && {
      limiter: lowPriority ? lowPriority.wrap(deployed.limiter) : deployed.limiter,
      operationLimits: limiterSettings.operationLimits,
      upstreamLimits: limiterSettings.upstreamLimits,
    }),
    ...(cache && { cache: createDeployedCache(cache, client(), settings.upstreamBaseUrl, listing) }),
    reportRefresh: (report) => log({ level: 'warn', event: 'turn_failed', ...report }),
    report: (report) => {
      log(requestEntry(report));
      deployed?.metrics.write();
    },
  };
}

function misconfigured(log: Log): GroupHandler {
  return async (event) => {
    const { requestId, headers } = await toGatewayRequest(event);
    const response = refusalResponse({ code: 'gateway_error' }, requestId, headers.accept);
    const { status } = response;
    log(requestEntry({ requestId, status, code: 'gateway_error', attempts: 0, milliseconds: 0 }));
    return toProxyResult(response);
  };
}
