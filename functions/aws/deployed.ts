/** A group's handler as it is deployed: settings from the environment, Secrets Manager, DynamoDB, Node's sockets. */

import type { Operation } from '../../lib/catalogue/operation.ts';
import type { SymbolListing } from '../../lib/catalogue/symbol-listing.ts';
import type { AccessOptions } from '../../lib/gateway/access-options.ts';
import {
  type GatewayOptions,
  type Limiter,
  refusalResponse,
  upstreamPathsOf,
} from '../../lib/gateway/index.ts';
import type { LowPriorityLimiter } from '../../lib/lookups/index.ts';
import { createDeployedAccess, type DeployedAccess } from './deployed-access.ts';
import { createDeployedCache } from './deployed-cache.ts';
import { createDeployedJournal } from './deployed-journal.ts';
import { createDeployedLastPrices } from './deployed-last-prices.ts';
import { createDeployedLimiter } from './deployed-limiter.ts';
import { createDeployedVerifier } from './deployed-verifier.ts';
import { createDynamoClient, type DynamoSender } from './dynamo-client.ts';
import {
  type AccessSettings,
  type Environment,
  type FunctionSettings,
  readGatewaySettings,
} from './environment.ts';
import { createGroupHandler, type GroupHandler } from './group-handler.ts';
import { describe, type Log, requestEntry, writeLog } from './log.ts';
import { createNodeSend } from './node-send.ts';
import { onDemand } from './on-demand.ts';
import { toGatewayRequest, toProxyResult } from './rest-proxy.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';
import { tokenRefusal } from './token-metric.ts';

export interface DeployedParts {
  /** Not called for a function without a table. */
  readonly client: () => DynamoSender;
  /** The upstream's lists of symbols, for a function that serves snapshots. */
  readonly listing?: SymbolListing;
  /** Present when the function's requests can wait for those of others. */
  readonly lowPriority?: LowPriorityLimiter;
  /** What the journal looks orders up with, for a function that does not offer it. */
  readonly lookUps?: readonly Operation[];
  /** For a function that uses it elsewhere, too; in place of one that is made of the settings. */
  readonly access?: AccessOptions | undefined;
}

/**
 * A wrong environment is one line in the log when the function starts, and a problem of the gateway to every
 * request. If it threw, Lambda would restart the function again and again, and API Gateway would answer without a
 * reason.
 *
 * @param listing the upstream's lists of symbols, for a function that serves snapshots
 * @param snapshots what last prices are read with, for a function that checks orders before it sends them
 */
export function deployedHandler(
  operations: readonly Operation[],
  env: Environment = process.env,
  log: Log = writeLog,
  listing?: SymbolListing,
  lookUps: readonly Operation[] = [],
  snapshots?: Operation,
): GroupHandler {
  const read = readGatewaySettings(env, [...operations, ...lookUps], snapshots);
  if (!read.ok) {
    log({ level: 'error', event: 'wrong_configuration', faults: read.faults });
    return misconfigured(log);
  }
  const { corsOrigins, cache } = read.settings;
  const options = gatewayOptions(read.settings, operations, env, log, {
    client: onDemand(createDynamoClient),
    lookUps,
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
  {
    secretId,
    limiter: limiterSettings,
    cache,
    access: accessSettings,
    journalTable,
    upstreamPaths = {},
    lastPrices,
    guard,
    corsOrigins: _,
    ...settings
  }: FunctionSettings,
  operations: readonly Operation[],
  env: Environment,
  log: Log,
  { client, listing, lowPriority, lookUps = [], access: given }: DeployedParts,
): GatewayOptions {
  const own = given ? undefined : accessSettings && accessOptions(accessSettings, client(), log);
  const access = given ?? own;
  const name = env.AWS_LAMBDA_FUNCTION_NAME ?? '';
  const deployed =
    limiterSettings &&
    createDeployedLimiter(
      limiterSettings,
      [...operations, ...lookUps],
      client(),
      name,
      log,
      lowPriority?.observe,
    );
  const send = createNodeSend();
  const secrets = createSecretsManagerSource({
    secretId,
    onFailure: (error, version) =>
      log({ level: 'error', event: 'secret_not_read', version, ...describe(error) }),
  });
  const prices =
    lastPrices &&
    createDeployedLastPrices({
      settings: {
        ...settings,
        upstreamPaths,
        lastPrices,
        ...(limiterSettings && { limiter: limiterSettings }),
      },
      functionName: name,
      client: client(),
      secrets,
      send,
      log,
    });
  const wrapped = (limiter: Limiter) => lowPriority?.wrap(limiter) ?? limiter;
  return {
    ...settings,
    // Without that of a read that is not this gateway's.
    upstreamPaths: upstreamPathsOf(upstreamPaths, [...operations, ...lookUps]),
    operations,
    send,
    secrets,
    readSecretAhead: true,
    ...(access && { access }),
    ...(journalTable &&
      own && {
        orders: {
          ...createDeployedJournal(journalTable, {
            client: client(),
            log,
            guard: guard && { ...guard, lastPrices: prices },
            ...own,
          }),
          lookUps,
        },
      }),
    ...(deployed && {
      limiter: wrapped(deployed.limiter),
      tightening: {
        ...deployed.tightening,
        limiterFor: (tighter) => wrapped(deployed.tightening.limiterFor(tighter)),
      },
      operationLimits: limiterSettings.operationLimits,
      upstreamLimits: limiterSettings.upstreamLimits,
    }),
    ...(cache && { cache: createDeployedCache(cache, client(), settings.upstreamBaseUrl, listing) }),
    reportRefresh: (report) => log({ level: 'warn', event: 'turn_failed', ...report }),
    report: (report) => {
      log({ ...requestEntry(report), ...tokenRefusal(report, secretId, Date.now()) });
      deployed?.metrics.write();
    },
  };
}

/** An authorizer in front verifies the tokens of most groups; others come with their request, and are verified here. */
function accessOptions(
  { auth, userGroups, ...directory }: AccessSettings,
  client: DynamoSender,
  log: Log,
): AccessOptions & DeployedAccess {
  // Made for the first token that comes here: behind an authorizer none does, and its keys are not read.
  const verifier = auth && onDemand(() => createDeployedVerifier(auth, log));
  return {
    ...createDeployedAccess(directory, client, log),
    ...(verifier && { verifier: { verify: (token) => verifier().verify(token) } }),
    ...(auth?.scopes && { tokenScopes: auth.scopes }),
    ...(userGroups.length > 0 && { userGroups }),
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
