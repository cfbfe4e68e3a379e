/**
 * A lookup whose requester waits for the reply, for example a step of a workflow: without store, queue and bus. A workflow
 * waits and repeats the call more cheaply than a running function, so nothing waits here.
 */

import type { Operation } from '../catalogue/operation.ts';
import { requesters } from '../events/names.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type AgeOptions, askAll } from './ask.ts';
import { BatchMetrics } from './batch-metrics.ts';
import { deadlinePassed, invalidRequest, type LookupFailure, withoutValues } from './failure.ts';
import type { LookupReport, StoredReply } from './ports.ts';
import { failedReply, failedReplyTo } from './replies.ts';
import { deadlineOf, ownedRequest } from './request.ts';
import { settle } from './settle.ts';

export interface DirectReply {
  readonly detailType: string;
  /** JSON text. */
  readonly detail: string;
  /** Present when the lookup failed. */
  readonly failure?: LookupFailure | undefined;
}

interface DirectOptions {
  readonly gateway: Pick<Gateway, 'ask'>;
  readonly operations: readonly Operation[];
  readonly clock: () => number;
  readonly random: () => number;
  readonly ages: AgeOptions | undefined;
  readonly report: (report: LookupReport) => void;
}

/** Time reserved between the gateway's answer and the function's return. */
const marginMs = 500;

export function createDirectLookup(options: DirectOptions) {
  const { gateway, operations, clock, random, ages, report } = options;
  return async (event: unknown, endAt: number): Promise<DirectReply> => {
    const metrics = new BatchMetrics(report);
    const started = clock();
    const done = (
      { detailType, details: [detail = '{}'] }: StoredReply,
      failure?: LookupFailure,
    ): DirectReply => {
      metrics.settled(failure ? 'failed' : 'answered', clock() - started);
      metrics.done();
      return { detailType, detail, failure };
    };
    const parsed = ownedRequest(event, operations, { otherwise: requesters.function, isDirect: true });
    // The caller gets the failure as an error, and Lambda writes each error to the log: so it quotes no values.
    const fail = (failure: LookupFailure): DirectReply => {
      const told = withoutValues(failure);
      if (parsed.ok) return done(failedReply(parsed.lookup, told), told);
      const { kind, requester, requestId = '' } = parsed;
      return done(failedReplyTo(kind, { request_id: requestId, requester }, told), told);
    };
    if (!parsed.ok) return fail(invalidRequest(parsed));
    const { lookup } = parsed;
    const deadline = deadlineOf(lookup, started);
    if (deadline <= started) return fail(deadlinePassed);
    const results = await askAll([{ lookup, deadline }], {
      gateway,
      clock,
      deadline: Math.min(deadline, endAt - marginMs),
      requestId: crypto.randomUUID(),
      ages,
    });
    metrics.calls(results.calls);
    const settled = settle(lookup, results, {
      now: clock(),
      deadline,
      random,
      // Unlike an event, the function's answer may have any size.
      maxBytes: Number.POSITIVE_INFINITY,
    });
    if (settled.kind === 'wait') return fail(deadlinePassed);
    return settled.failure ? fail(settled.failure) : done(settled.reply);
  };
}
