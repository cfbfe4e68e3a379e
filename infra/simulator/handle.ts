/** Handles a request in the simulated upstream, from the path to the answer. */

import { takesToken } from '../../lib/catalogue/groups.ts';
import { findRoute, type Operation, type Route } from '../../lib/catalogue/index.ts';
import type { ApiReply } from './behaviours/behaviour.ts';
import { behaviourOf } from './behaviours/index.ts';
import { asOnTheWire } from './behaviours/market-stream.ts';
import { checkBodyRules } from './body-rules.ts';
import type { ApiAnswer } from './faults.ts';
import type { NonceMemory } from './nonces.ts';
import { observed } from './observed.ts';
import { inOtherForm } from './other-forms.ts';
import { checkParameters, type Parameters } from './parameters.ts';
import { codedBody, namesStatus, type Rejection, refuse, refuseAsSeen, serverBody } from './refusal.ts';
import type { RequestCounters } from './request-counters.ts';
import { type Verified, verifyRequest, type WireRequest } from './verify.ts';
import { notSubscribed, type World } from './world.ts';

export interface SimulatedUpstream {
  readonly routes: readonly Route[];
  /** App secrets by app key. */
  readonly credentials: ReadonlyMap<string, string>;
  /** App keys of the other environment. */
  readonly foreignKeys: ReadonlySet<string>;
  /** Token that x-access-token must have, if set; one that was issued and approved counts, too. */
  readonly accessToken: string | undefined;
  readonly toleranceSeconds: number;
  readonly nonces: NonceMemory;
  readonly counters: RequestCounters;
  /** Whether answers have the less usual form where sources disagree on it. */
  readonly hasOtherForms?: boolean;
  readonly world: World;
}

/** Handles a request. `standIn` replaces the operation's answer; all checks up to the limit come before it. */
export function handle(request: WireRequest, upstream: SimulatedUpstream, standIn?: ApiAnswer): ApiAnswer {
  const path = request.rawTarget.split('?', 1)[0]!;
  // Seen live: a key of the other environment finds no path at all, and no answer says that the key is the reason.
  if (upstream.foreignKeys.has(headerOf(request, 'x-app-key') ?? ''))
    return unroutedAnswer('foreign-key', observed.foreignKey.message);
  const match = findRoute(upstream.routes, request.method, path);
  if (match.kind === 'unknown') return unroutedAnswer('unknown-path', 'no route and no API found');
  if (match.kind === 'other-method') {
    const headers = { allow: match.allowed.join(', ') };
    return { ...serverRefusal(405, 'other-method', 'method not allowed', path, request.now), headers };
  }

  const { operation } = match.route;
  const verified = verifyRequest(request, {
    secretOf: (appKey) => upstream.credentials.get(appKey),
    toleranceSeconds: upstream.toleranceSeconds,
  });
  if (!verified.ok) return refusalAnswer(verified);
  const refusal = admit(match.route, request, verified, upstream);
  if (refusal) return refusalAnswer(refusal);
  if (standIn) return standIn;

  const reply = execute(operation, request, verified, upstream);
  // The refusals above are the same for both families; only market data's own name the status.
  if (!reply.ok) return refusalAnswer(reply, namesStatus(operation));
  const payload = upstream.hasOtherForms ? inOtherForm(operation, reply.payload) : reply.payload;
  return { status: 200, headers: {}, body: JSON.stringify(payload), outcome: 'ok' };
}

function execute(
  operation: Operation,
  { body, now }: WireRequest,
  { query, appKey }: Verified,
  { world }: SimulatedUpstream,
): ApiReply {
  const broken = checkBodyRules(body);
  if (broken) return broken;
  const checked = checkParameters(asOnTheWire(operation), query, body);
  if (!checked.ok) return checked;
  const forbidden = checkSubscription(operation, checked, world);
  if (forbidden) return forbidden;
  const call = { operation, query: checked.query, body: checked.body, now, appKey };
  return behaviourOf(operation.id)(call, world);
}

/** Checks nonce, token and limit of a request whose signature is right. */
function admit(
  { operation }: Route,
  request: WireRequest,
  { appKey, nonce, timestamp }: Verified,
  upstream: SimulatedUpstream,
): Rejection | undefined {
  const until = timestamp + upstream.toleranceSeconds * 1000;
  if (!upstream.nonces.admit(appKey, nonce, until, request.now)) {
    return refuse(401, 'DUPPLICATED_REQUEST', 'The nonce was used before');
  }
  // Operations that issue a token, or tell whether one is needed, cannot require it.
  if (upstream.accessToken !== undefined && takesToken(operation.group)) {
    const token = headerOf(request, 'x-access-token');
    if (token !== upstream.accessToken && !upstream.world.tokens.use(token, request.now))
      return refuse(401, 'INVALID_TOKEN', 'x-access-token is missing or not valid');
  }
  if (!upstream.counters.admit(operation, request.now, appKey))
    return refuseAsSeen(observed.accountsList, 'Too many requests, try again later');
  return undefined;
}

function headerOf({ rawHeaders }: WireRequest, name: string): string | undefined {
  const at = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? undefined : rawHeaders[at + 1];
}

function refusalAnswer(refusal: Rejection, withStatus = false): ApiAnswer {
  const { status, error_code: outcome } = refusal;
  return { status, headers: {}, body: JSON.stringify(codedBody(refusal, withStatus)), outcome };
}

/** Refusal of the server in front of the upstream, which knows no error codes. */
function unroutedAnswer(outcome: string, error_msg: string): ApiAnswer {
  return { status: 404, headers: {}, body: JSON.stringify({ error_msg }), outcome };
}

/** Refusal of the web server around the operations; see `serverBody`. */
export function serverRefusal(
  status: number,
  outcome: string,
  message: string,
  path: string,
  now: number,
): ApiAnswer {
  return { status, headers: {}, body: JSON.stringify(serverBody(status, message, path, now)), outcome };
}

/** Checks the subscription to market data; the market stream checks its own, after the session. */
function checkSubscription(
  { group }: Operation,
  { query, body }: Parameters,
  world: World,
): Rejection | undefined {
  if (group !== 'market-data') return undefined;
  const { category } = { ...(body as { readonly category?: string } | undefined), ...query };
  return notSubscribed(world, category);
}
