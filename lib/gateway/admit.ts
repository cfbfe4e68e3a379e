/** The steps route → who → validate → accounts. The core adds the credential, which makes the identified request an admitted one. */

import type { Operation } from '../catalogue/operation.ts';
import { findRoute, nearestRoute, type Route } from '../catalogue/routes.ts';
import { isRefusal, type Refusal, refusalKinds } from '../problem.ts';
import type { RequestContext } from './context.ts';
import type { Credential } from './credentials.ts';
import type { GatewayRequest } from './http.ts';
import { everything, type Reach, type ReachNow, refuseAccounts } from './reach.ts';
import { type ValidRequest, validate } from './validate.ts';
import type { Who } from './who.ts';

/** A request that is routed, identified and validated. */
export interface IdentifiedRequest {
  readonly route: Pick<Route, 'operation' | 'path'>;
  /** As received, but with the user, where one is known, as its caller. */
  readonly request: GatewayRequest;
  readonly valid: ValidRequest;
  readonly context: RequestContext;
  /** The accounts that the sender may use. */
  readonly reach: Reach;
  readonly reachNow: ReachNow;
}

/** An admitted request that goes to the cache or to the upstream, with the credential that signs it. */
export interface AdmittedRequest extends Omit<IdentifiedRequest, 'reach'> {
  readonly credential: Credential;
}

export interface AdmissionRules {
  readonly routes: readonly Route[];
  /** Undefined where all callers are one user. */
  readonly who: Who | undefined;
  /** Members that an order may have besides the catalogue's. */
  readonly orderMembers: readonly string[];
  readonly maxAnswerBytes: number | undefined;
}

/** @param serving keeps the operation as soon as it is known, for the report on a request that is refused later */
export async function admit(
  rules: AdmissionRules,
  serving: { readonly request: GatewayRequest; readonly context: RequestContext; operation?: Operation },
): Promise<IdentifiedRequest | Refusal> {
  const { routes, who } = rules;
  const { request, context } = serving;
  const match = findRoute(routes, request.method, request.path);
  if (match.kind === 'other-method') return otherMethod(match.allowed);
  if (match.kind !== 'route') return unknownPath(routes, request.path);
  const { route } = match;
  const { operation } = route;
  serving.operation = operation;
  const { parties } = context;
  const reach = who ? await who.identify(operation, request, parties) : everything;
  if (isRefusal(reach)) return reach;
  const valid = validate(operation, request, rules);
  if (isRefusal(valid)) return valid;
  const account = await who?.nameOf(valid.accounts);
  if (account) parties.account = account;
  const notReached = refuseAccounts(operation, valid.accounts, reach);
  if (notReached) return notReached;
  return {
    route,
    // All requests of a user count as one caller's, from any network.
    request: parties.user ? { ...request, caller: { unit: parties.user } } : request,
    valid,
    context,
    reach,
    reachNow: async () => who?.identify(operation, request, {}) ?? everything,
  };
}

/** @param routes only the open ones, so that a closed path is never named */
export function unknownPath(routes: readonly Route[], path: string): Refusal {
  const nearest = nearestRoute(routes, path);
  return {
    code: 'unknown_operation',
    ...(nearest && {
      detail: `${refusalKinds.unknown_operation.detail} The nearest one is ${nearest.method} ${nearest.path}.`,
    }),
  };
}

export const otherMethod = (allow: readonly string[]): Refusal => ({
  code: 'method_not_allowed',
  allow,
  detail: `This path takes ${allow.join(' or ')}.`,
});
