/** The function of an endpoint group: what API Gateway's event asks for, through a gateway with the group's operations. */

import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { CacheStep } from '../../lib/gateway/cache.ts';
import type { Gateway, SecretSource } from '../../lib/gateway/index.ts';
import type { OrdersStep } from '../../lib/gateway/orders-port.ts';
import { refusalResponse } from '../../lib/gateway/render.ts';
import { accessStep } from '../../lib/gateway/who.ts';
import { withCors } from '../events/cors.ts';
import { type ProxyEvent, toGatewayRequest, toProxyResult } from '../events/rest-proxy.ts';
import { requestEntry } from '../log/log.ts';
import {
  type FunctionSettings,
  type OrderChecks,
  readFunctionSettings,
} from '../settings/function-settings.ts';
import type { CacheSettings } from '../settings/parts.ts';
import { composeAccess, type composeVerifier } from './access.ts';
import { type ComposedIdentity, composeAppSecret, composeIdentity } from './credential.ts';
import { composeGateway } from './gateway.ts';
import type { GatewayPorts } from './ports.ts';
import type { Composition } from './start.ts';

export type GroupHandler = (
  event: ProxyEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<APIGatewayProxyResult>;

/** What one function answers, and what it asks the upstream for besides: `offers.ts` has all of them. */
export interface Offer<Ports extends GatewayPorts> {
  readonly operations: readonly Operation[];
  /** What the journal looks orders up with, for a function that does not offer it. */
  readonly lookUps: readonly Operation[];
  /** For a function that checks orders before it sends them. */
  readonly checks: OrderChecks | undefined;
  /** For account data, whose token API Gateway cannot make optional (`bound-key`): this function verifies it then. */
  readonly verifier: typeof composeVerifier | undefined;
  /** How its reads are shared. */
  readonly cache: (settings: FunctionSettings, ports: Ports) => CacheStep | undefined;
  /** What it does with the journal; undefined of a function whose requests have no entry there. */
  readonly orders: ((settings: FunctionSettings, ports: Ports, by: JournalParts) => OrdersStep) | undefined;
}

/** What a function has whose requests have entries in the journal. */
export interface JournalParts {
  readonly journalTable: string;
  /** Names and seals entries. */
  readonly identity: ComposedIdentity;
  readonly lookUps: readonly Operation[];
  readonly secrets: SecretSource;
}

/** @throws TypeError for settings that no request could be served with */
const composeGroup = <Ports extends GatewayPorts>(
  offer: Offer<Ports>,
  settings: FunctionSettings,
  ports: Ports,
): GroupHandler => groupHandler(composeOffer(offer, settings, ports), settings, ports);

/** The gateway behind a function's events. */
export function composeOffer<Ports extends GatewayPorts>(
  { operations, lookUps, cache, orders, verifier }: Offer<Ports>,
  settings: FunctionSettings,
  ports: Ports,
): Gateway {
  const { access, journalTable } = settings;
  if (journalTable !== undefined && !orders) throw new TypeError('a journal, and no step that keeps it');
  const identity = access && composeIdentity(access.identityKeySecretId, ports);
  const secrets = composeAppSecret(settings.secretId, ports);
  return composeGateway(settings, ports, {
    operations,
    lookUps,
    lowPriority: undefined,
    secrets,
    access: identity && accessStep(composeAccess(access, identity, ports, verifier)),
    cache: cache(settings, ports),
    orders:
      journalTable !== undefined && identity
        ? orders?.(settings, ports, { journalTable, identity, lookUps, secrets })
        : undefined,
  });
}

/** From the end of an attempt to the function's return. */
const marginMs = 500;

interface HandlerOptions extends Pick<FunctionSettings, 'corsOrigins'> {
  readonly cache: Pick<CacheSettings, 'networkPrefix'> | undefined;
}

/** @example const handler = groupHandler(createGateway(options), { corsOrigins: [], cache: undefined }, { clock: Date.now }); */
export const groupHandler =
  (
    gateway: Pick<Gateway, 'handle'>,
    { corsOrigins, cache }: HandlerOptions,
    { clock }: Pick<GatewayPorts, 'clock'>,
  ): GroupHandler =>
  async (event, context) => {
    const request = await toGatewayRequest(event, cache?.networkPrefix);
    // An attempt ends before the function does, so that the client receives the gateway's answer.
    const deadline = clock() + context.getRemainingTimeInMillis() - marginMs;
    const { headers, ...response } = await gateway.handle({ ...request, deadline });
    return toProxyResult({ ...response, headers: withCors(headers, corsOrigins, request.headers.origin) });
  };

/** With a wrong environment, every request is answered with a problem of the gateway. */
export const group = <Ports extends GatewayPorts>(
  offer: Offer<Ports>,
): Composition<FunctionSettings, Ports, GroupHandler> => ({
  read: (env) => readFunctionSettings(env, [...offer.operations, ...offer.lookUps], offer.checks),
  compose: (settings, ports) => composeGroup(offer, settings, ports),
  wrong: (log) => async (event) => {
    const { requestId, headers } = await toGatewayRequest(event);
    const response = refusalResponse({ code: 'gateway_error' }, requestId, headers.accept);
    const { status } = response;
    log(requestEntry({ requestId, status, code: 'gateway_error', attempts: 0, milliseconds: 0 }));
    return toProxyResult(response);
  },
});
