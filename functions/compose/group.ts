/** The function of an endpoint group: what API Gateway's event asks for, through a gateway with the group's operations. */

import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { SymbolListing } from '../../lib/catalogue/symbol-listing.ts';
import type { Gateway } from '../../lib/gateway/index.ts';
import { withCors } from '../events/cors.ts';
import { fitsLambda } from '../events/payload.ts';
import { type ProxyEvent, toGatewayRequest, toProxyResult } from '../events/rest-proxy.ts';
import type { FunctionSettings, QuoteReads } from '../settings/settings.ts';
import { composeAccess } from './access.ts';
import { composeAppSecret, composeIdentity } from './credential.ts';
import { composeGateway } from './gateway.ts';
import { composeLastPrices } from './last-prices.ts';
import { composeOrders } from './orders.ts';
import type { GatewayPorts } from './ports.ts';

export type GroupHandler = (
  event: ProxyEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<APIGatewayProxyResult>;

/** What one function answers, and what it asks the upstream for besides: `offers.ts` has all of them. */
export interface Offer {
  readonly operations: readonly Operation[];
  /** What the journal looks orders up with, for a function that does not offer it. */
  readonly lookUps: readonly Operation[];
  /** The upstream's lists of symbols, for a function that serves snapshots. */
  readonly listing: SymbolListing | undefined;
  /** What last prices are read with, for a function that checks orders before it sends them. */
  readonly quotes: QuoteReads | undefined;
}

/** @throws TypeError for settings that no request could be served with */
export function composeGroup(
  { operations, lookUps, listing }: Offer,
  settings: FunctionSettings,
  ports: GatewayPorts,
): GroupHandler {
  const { access, journalTable, guard } = settings;
  const identity = access && composeIdentity(access.identityKeySecretId, ports);
  const secrets = composeAppSecret(settings.secretId, ports);
  const prices = composeLastPrices(settings, ports, secrets);
  const gateway = composeGateway(settings, ports, {
    operations,
    lookUps,
    listing,
    lowPriority: undefined,
    secrets,
    access: identity && composeAccess(access, identity, ports),
    orders:
      journalTable !== undefined && identity
        ? composeOrders({ journalTable, identity, lookUps, guard, prices }, ports)
        : undefined,
    canCarry: fitsLambda,
  });
  return groupHandler(gateway, settings, ports);
}

/** From the end of an attempt to the function's return. */
const marginMs = 500;

/** @example const handler = groupHandler(createGateway(options), { corsOrigins: [], cache: undefined }, { clock: Date.now }); */
export const groupHandler =
  (
    gateway: Pick<Gateway, 'handle'>,
    { corsOrigins, cache }: Pick<FunctionSettings, 'corsOrigins' | 'cache'>,
    { clock }: Pick<GatewayPorts, 'clock'>,
  ): GroupHandler =>
  async (event, context) => {
    const request = await toGatewayRequest(event, cache?.networkPrefix);
    // An attempt ends before the function does, so that the client receives the gateway's answer.
    const deadline = clock() + context.getRemainingTimeInMillis() - marginMs;
    const { headers, ...response } = await gateway.handle({ ...request, deadline });
    return toProxyResult({ ...response, headers: withCors(headers, corsOrigins, request.headers.origin) });
  };
