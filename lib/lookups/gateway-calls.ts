/**
 * Calls of one batch to the gateway. After a refusal of the limiter, further calls that count against the same limit fail
 * at once, because it is still used up. If a requester's own share is used up, or its calls fail several times in a row,
 * only its calls fail at once: the cause may be its deadline, its record or its request. An operation that fails for several
 * requesters in a row fails for all.
 */

import type { Operation } from '../catalogue/operation.ts';
import type { GatewayRequest } from '../gateway/http.ts';
import type { Outcome, Refused } from '../gateway/outcome.ts';
import { callerName } from '../identity/caller.ts';
import type { PartialResult, Refusal } from '../problem.ts';
import { failureOf, type LookupFailure } from './failure.ts';
import type { LookupParts } from './ports.ts';

export interface CallLimits {
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

export interface CallTimes {
  readonly askedAt: number;
  readonly answeredAt: number;
}

type CallResult = CallTimes &
  (
    | { readonly kind: 'answered'; readonly outcome: Exclude<Outcome, Refused> }
    | {
        readonly kind: 'failed';
        readonly failure: LookupFailure;
        readonly partial?: PartialResult | undefined;
      }
  );

type CallersByRequester = ReadonlyMap<string, Pick<GatewayRequest, 'caller' | 'evidence'>>;

/** Failures of an operation in a row after which the batch stops asking for it on behalf of that requester. */
const maxFailures = 3;
/** Requesters with failures in a row after which the batch stops asking for the operation altogether. */
const maxRequesters = 3;

/**
 * Failures that concern a requester alone: it asked for too many invalid symbols, or for one that is not cached yet. They show
 * nothing about other requesters.
 */
const ofCaller = ['throttled', 'no_fresh_answer'];
/** Failures whose cause may lie with a requester: its deadline, or its record. The next one may get an answer. */
const perhapsOfCaller = ['gateway_timeout', 'access_unavailable'];

export class GatewayCalls {
  readonly #parts: LookupParts;
  readonly #limits: CallLimits;
  readonly #callers: CallersByRequester;
  /** Failures of calls that are no longer made: by limit, by operation, or by operation and requester. */
  readonly #stopped = new Map<string, LookupFailure>();
  /** Number of failures in a row, by operation and requester. */
  readonly #failures = new Map<string, number>();
  /** Requesters for whom an operation failed since its last answer, by operation. */
  readonly #failing = new Map<string, Set<string>>();
  #count = 0;

  /** @param callers callers by requester, as `callersOf` makes them */
  constructor(parts: LookupParts, limits: CallLimits, callers: CallersByRequester) {
    this.#parts = parts;
    this.#limits = limits;
    this.#callers = callers;
  }

  get count(): number {
    return this.#count;
  }

  async ask(call: GatewayCall): Promise<CallResult> {
    const { gateway, clock } = this.#parts;
    const keys = keysOf(call);
    const stopped =
      this.#stopped.get(keys.limit) ?? this.#stopped.get(keys.operation) ?? this.#stopped.get(keys.own);
    const askedAt = clock();
    // Fails here, because the gateway would notice only after its look-ups that the time is over.
    const isOver = askedAt >= this.#limits.deadline;
    const failed = stopped ?? (isOver ? failureOf({ code: 'gateway_timeout' }) : undefined);
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
    return { kind: 'failed', failure, partial: outcome.refusal.partial, ...times };
  }

  #requestOf({ operation, query, body, until, requester, maxAgeSeconds }: GatewayCall): GatewayRequest {
    const { requestId, deadline } = this.#limits;
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
    else if (failure.retryable && !ofCaller.includes(failure.code)) this.#noteInRow(call, failure);
  }

  #noteInRow(call: GatewayCall, failure: LookupFailure): void {
    const keys = keysOf(call);
    const inRow = (this.#failures.get(keys.own) ?? 0) + 1;
    this.#failures.set(keys.own, inRow);
    if (inRow >= maxFailures) this.#stopped.set(keys.own, failure);
    if (perhapsOfCaller.includes(failure.code)) return;
    const { id } = call.operation;
    const failing = (this.#failing.get(id) ?? new Set()).add(call.requester);
    this.#failing.set(id, failing);
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
