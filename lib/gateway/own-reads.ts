/**
 * Reads that a gateway makes for itself with an operation that it does not offer. They have a credential, limits and a
 * circuit breaker like callers' requests, but no caller. A read for a user's request counts against that user's share.
 */

import type { Operation } from '../catalogue/operation.ts';
import { steadyClock } from '../kernel/age.ts';
import { createCircuitBreaker } from '../kernel/circuit-breaker.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { Refusal } from '../problem.ts';
import { normalBaseUrl } from '../upstream/base-url.ts';
import { createContext } from './context.ts';
import { accountOf } from './credential.ts';
import { createCredentials } from './credentials.ts';
import type { GatewayRequest } from './http.ts';
import { forLimitsInForce } from './limits/in-force.ts';
import {
  type AnswerBound,
  type CoreOptions,
  type CoreWiring,
  checkOptions,
  type GatewaySeams,
} from './options.ts';
import type { UpstreamBreaker } from './read-again.ts';
import { createFetchSend } from './send.ts';
import { createUpstream } from './upstream.ts';

/** The gateway's options that also apply to its own reads. */
export type OwnReadsWiring = Omit<
  CoreWiring,
  'operations' | 'readSecretAhead' | 'report' | 'reportRefresh' | 'access' | 'cache' | 'orders'
>;

export type OwnReadsSeams = GatewaySeams & AnswerBound;

type OwnReadsOptions = OptionsOf<OwnReadsWiring, 'upstreamBaseUrl' | 'secrets'> & OwnReadsSeams;

export interface OwnReads {
  /** The name in stores of the account whose key signs the reads; undefined while there is no usable secret. */
  account(): Promise<string | undefined>;
  /**
   * Always resolves. Sends one request, and a second one after a refused signature or a connection that the upstream
   * had closed.
   *
   * @param endBy moment after which an answer is useless, in milliseconds since the epoch
   * @param user keyed name of the user for whose order the gateway reads: the limiter counts the read against that user's share
   */
  read(query: GatewayRequest['query'], endBy: number, user?: string): Promise<OwnAnswer>;
}

type OwnAnswer =
  /** @property sentAt when the upstream was asked, in milliseconds since the epoch */
  | { readonly kind: 'answer'; readonly body: Uint8Array; readonly sentAt: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Longest wait for a permit: short, because clients' reads come first. */
const permitMs = 1000;

/**
 * @param operation without a side effect
 * @throws TypeError for options with which no request could be sent
 *
 * @example
 * const reads = createOwnReads(getStockSnapshots, { upstreamBaseUrl, secrets, limiter });
 * await reads.read([['symbols', 'AAPL'], ['category', 'US_STOCK']], Date.now() + 3000);
 */
export function createOwnReads(operation: Operation, options: OwnReadsOptions): OwnReads {
  const whole: CoreOptions = { ...options, operations: [operation], access: 'single-user' };
  checkOptions(whole);
  const { clock = Date.now, random = Math.random, upstreamTimeoutMs: timeoutMs = 10_000 } = options;
  const steady = steadyClock(clock);
  const credentials = createCredentials({
    source: options.secrets,
    clock,
    nonce: options.nonce,
    digests: options.digests,
  });

  const breaker: UpstreamBreaker = createCircuitBreaker({ clock, random });
  const upstreamInForce = forLimitsInForce(whole, (limits) =>
    createUpstream({
      ...limits,
      credentials,
      clock,
      random,
      timeoutMs,
      breaker,
      baseUrl: normalBaseUrl(options.upstreamBaseUrl),
      paths: options.upstreamPaths ?? {},
      send: options.send ?? createFetchSend(),
      maxAnswerBytes: options.maxAnswerBytes,
    }),
  );
  async function ask([query, endBy, user]: Parameters<OwnReads['read']>): Promise<OwnAnswer> {
    const upstream = await upstreamInForce();
    const current = await credentials.forRead();
    if (!current.ok) return { kind: 'refused', refusal: { code: current.code } };
    const context = createContext(endBy, undefined);
    const answer = await upstream.fetch(
      {
        operation,
        path: operation.path,
        request: { query, body: '', headers: {} },
        context,
        own: { waitMs: permitMs, user },
        isRepeatedByCaller: true,
      },
      current.credential,
    );
    if (answer.kind === 'refused') return answer;
    const { sentAt = steady() } = context.usage;
    return { kind: 'answer', body: answer.body, sentAt: sentAt + clock() - steady() };
  }

  return {
    async account() {
      const current = await credentials.forRead();
      return current.ok ? accountOf(current.credential) : undefined;
    },
    async read(...asked) {
      try {
        return await ask(asked);
      } catch {
        return { kind: 'refused', refusal: { code: 'gateway_error' } };
      }
    },
  };
}
