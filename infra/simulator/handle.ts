/** The way of a request through the simulated upstream, from the path to the answer. */

import { takesToken } from '../../lib/catalogue/groups.ts';
import { findRoute, type LimitName, type Route } from '../../lib/catalogue/index.ts';
import { behaviourOf } from './behaviours/index.ts';
import { checkBodyRules } from './body-rules.ts';
import type { Answer } from './faults.ts';
import type { NonceMemory } from './nonces.ts';
import { checkParameters } from './parameters.ts';
import type { SlidingLog } from './rate-limit.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Verified, verifyRequest, type WireRequest } from './verify.ts';
import type { World } from './world.ts';

export interface Upstream {
  readonly routes: readonly Route[];
  /** App secrets by app key. */
  readonly credentials: ReadonlyMap<string, string>;
  /** When set, x-access-token must be this. */
  readonly accessToken: string | undefined;
  readonly toleranceSeconds: number;
  readonly nonces: NonceMemory;
  /**
   * One log per limit, over all app keys together: the interface does not show the scope of the counting,
   * and this is the strictest reading.
   */
  readonly logs: ReadonlyMap<LimitName, SlidingLog>;
  readonly world: World;
}

/** `standIn` takes the operation's place: everything is checked up to the limit, then it is the answer. */
export function handle(request: WireRequest, upstream: Upstream, standIn?: Answer): Answer {
  const path = request.rawTarget.split('?', 1)[0]!;
  const match = findRoute(upstream.routes, request.method, path);
  // Both come from the server in front of the upstream, which knows no error codes.
  if (match.kind === 'unknown') return unrouted(404, 'unknown-path', 'no route and no API found');
  if (match.kind === 'other-method') {
    return unrouted(405, 'other-method', 'method not allowed', { allow: match.allowed.join(', ') });
  }

  const { operation } = match.route;
  const verified = verifyRequest(request, {
    secretOf: (appKey) => upstream.credentials.get(appKey),
    toleranceSeconds: upstream.toleranceSeconds,
  });
  if (!verified.ok) return refused(verified);
  const refusal = admit(match.route, request, verified, upstream);
  if (refusal) return refused(refusal);
  if (standIn) return standIn;

  const broken = checkBodyRules(request.body);
  if (broken) return refused(broken);
  const checked = checkParameters(operation, verified.query, request.body);
  if (!checked.ok) return refused(checked);
  const call = { operation, query: checked.query, body: checked.body, now: request.now };
  const reply = behaviourOf(operation.id)(call, upstream.world);
  if (!reply.ok) return refused(reply);
  return { status: 200, headers: {}, body: JSON.stringify(reply.payload), outcome: 'ok' };
}

/** What needs a memory or a token, for a request whose signature is right. */
function admit(
  { operation }: Route,
  request: WireRequest,
  { appKey, nonce, timestamp }: Verified,
  upstream: Upstream,
): Refusal | undefined {
  const until = timestamp + upstream.toleranceSeconds * 1000;
  if (!upstream.nonces.admit(appKey, nonce, until, request.now)) {
    return refuse(401, 'DUPPLICATED_REQUEST', 'The nonce was used before');
  }
  // A token cannot be asked of those who come to get one, or to learn whether they need one.
  if (upstream.accessToken !== undefined && takesToken(operation.group)) {
    const at = request.rawHeaders.findIndex(
      (text, i) => i % 2 === 0 && text.toLowerCase() === 'x-access-token',
    );
    if (at < 0 || request.rawHeaders[at + 1] !== upstream.accessToken) {
      return refuse(401, 'INVALID_TOKEN', 'x-access-token is missing or not valid');
    }
  }
  if (operation.limit && !upstream.logs.get(operation.limit)?.admit(request.now)) {
    return refuse(429, 'TOO_MANY_REQUESTS', 'Too many requests, try again later');
  }
  return undefined;
}

export function refused({ status, error_code, message }: Refusal): Answer {
  return { status, headers: {}, body: JSON.stringify({ error_code, message }), outcome: error_code };
}

function unrouted(
  status: number,
  outcome: string,
  error_msg: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, body: JSON.stringify({ error_msg }), outcome };
}
