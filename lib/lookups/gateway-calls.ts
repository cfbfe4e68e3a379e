/**
 * Calls of one batch to the gateway. After a refusal of the limiter, further calls that count against the same limit fail
 * at once, because it is still used up. If a requester's own share is used up, or its calls fail several times in a row,
 * only its calls fail at once: the cause may be its deadline, its record or its request. An operation that fails for several
 * requesters in a row fails for all.
 */

import type { Operation } from '../catalogue/operation.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { GatewayRequest } from '../gateway/http.ts';
import type { Outcome, Refused } from '../gateway/outcome.ts';
import { callerName } from '../identity/caller.ts';
import type { PartialResult, Refusal } from '../problem.ts';
import { concernsCallerOnly, failureOf, type LookupFailure, mayConcernCallerOnly } from './failure.ts';

export interface GatewayCallsOptions {
  readonly gateway: Pick<Gateway, 'ask'>;
  readonly clock: () => number;
  /** Time by which the answers must arrive, however long their requesters would wait. */
  readonly deadline: number;
  /** Identifies the calls in the log. */
  readonly requestId: string;
}

interface GatewayCall {
  readonly operation: Operation;
  readonly query: readonly (readonly [string, string])[];
  readonly body?: string | undefined;
  /** Time at which the last requester stops waiting. */
  readonly until: number;
  readonly requester: string;
  readonly maxAgeSeconds?: number | undefined;
}

type CallResult = AnsweredCall | FailedCall;

interface CallTimes {
  readonly askedAt: number;
  readonly answeredAt: number;
}

export interface AnsweredCall extends CallTimes {
  readonly kind: 'answered';
  readonly outcome: Exclude<Outcome, Refused>;
}

export interface FailedCall extends CallTimes {
  readonly kind: 'failed';
  readonly failure: LookupFailure;
  readonly partial?: PartialResult | undefined;
}

type CallersByRequester = ReadonlyMap<string, Pick<GatewayRequest, 'caller' | 'evidence'>>;

/** Failures of an operation in a row after which the batch stops asking for it on behalf of that requester. */
const maxFailures = 3;
/** Requesters with failures in a row after which the batch stops asking for the operation altogether. */
const maxRequesters = 3;

export class GatewayCalls {
  readonly #options: GatewayCallsOptions;
  readonly #callers: CallersByRequester;
  /** Failures of calls that are no longer made: by limit, by operation, or by operation and requester. */
  readonly #stopped = new Map<string, LookupFailure>();
  /** Number of failures in a row, by operation and requester. */
  readonly #failures = new Map<string, number>();
  /** Requesters for whom an operation failed since its last answer, by operation. */
  readonly #failing = new Map<string, Set<string>>();
  #count = 0;

  /** @param callers callers by requester, as `callersOf` makes them */
  constructor(options: GatewayCallsOptions, callers: CallersByRequester) {
    this.#options = options;
    this.#callers = callers;
  }

  get count(): number {
    return this.#count;
  }

  async ask(call: GatewayCall): Promise<CallResult> {
    const { gateway, clock, deadline } = this.#options;
    const keys = keysOf(call);
    const stopped =
      this.#stopped.get(keys.limit) ?? this.#stopped.get(keys.operation) ?? this.#stopped.get(keys.own);
    const askedAt = clock();
    // Fails here, because the gateway would notice only after its look-ups that the time is over.
    const failed = stopped ?? (askedAt < deadline ? undefined : failureOf({ code: 'gateway_timeout' }));
    if (failed) return { kind: 'failed', failure: failed, askedAt, answeredAt: askedAt };
    const outcome = await gateway.ask(this.#requestOf(call));
    const times = { askedAt, answeredAt: clock() };
    if (outcome.kind !== 'refused') {
      this.#failures.set(keys.own, 0);
      this.#failing.delete(call.operation.id);
      return { kind: 'answered', outcome, ...times };
    }
    const failure = failureOf(outcome.refusal);
    this.#noteFailure(call, failure, outcome.refusal);
    const { partial } = outcome.refusal;
    return { kind: 'failed', failure, partial, ...times };
  }

  #requestOf({ operation, query, body, until, requester, maxAgeSeconds }: GatewayCall): GatewayRequest {
    const { requestId, deadline } = this.#options;
    return {
      method: operation.method,
      path: operation.path,
      query,
      headers: {
        ...(maxAgeSeconds !== undefined && { 'cache-control': `max-age=${maxAgeSeconds}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      requestId: `${requestId}-${++this.#count}`,
      deadline: Math.min(deadline, until),
      ...this.#callers.get(requester),
      priority: 'events',
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    };
  }

  #noteFailure(call: GatewayCall, failure: LookupFailure, { usedUp, isOwnShare }: Refusal): void {
    const keys = keysOf(call);
    // The endpoint's own limit concerns this operation alone; the wide limit concerns others, too.
    const isEndpoints = usedUp !== undefined && usedUp !== call.operation.limit;
    if (isOwnShare) this.#stopped.set(keys.own, failure);
    else if (failure.code === 'budget_used_up')
      this.#stopped.set(isEndpoints ? keys.operation : keys.limit, failure);
    else if (failure.retryable && !concernsCallerOnly(failure)) this.#noteInRow(call, failure);
  }

  #noteInRow(call: GatewayCall, failure: LookupFailure): void {
    const keys = keysOf(call);
    const { operation, requester } = call;
    const inRow = (this.#failures.get(keys.own) ?? 0) + 1;
    this.#failures.set(keys.own, inRow);
    if (inRow >= maxFailures) this.#stopped.set(keys.own, failure);
    if (mayConcernCallerOnly(failure)) return;
    const failing = (this.#failing.get(operation.id) ?? new Set()).add(requester);
    this.#failing.set(operation.id, failing);
    if (failing.size >= maxRequesters) this.#stopped.set(keys.operation, failure);
  }
}

const keysOf = ({ operation: { id, limit }, requester }: GatewayCall) => ({
  // An operation without a limit in the catalogue shares its limit with no other.
  limit: `limit ${limit ?? `of ${id}`}`,
  operation: `operation ${id}`,
  own: `operation ${id} of ${requester}`,
});

/** Makes a caller for each requester, with its own share of the limits and its own rights. */
export async function callersOf(requesters: readonly string[]): Promise<CallersByRequester> {
  const named = [...new Set(requesters)].map(async (requester) => {
    const unit = await callerName('events', requester);
    return [requester, { caller: { unit }, evidence: { eventSource: requester } }] as const;
  });
  return new Map(await Promise.all(named));
}
