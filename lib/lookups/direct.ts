/**
 * A lookup whose requester waits for the reply, for example a step of a workflow: without store, queue and bus. A workflow
 * waits and repeats the call more cheaply than a running function, so nothing waits here.
 */

import { requesters } from '../events/names.ts';
import { askAll } from './ask.ts';
import { deadlinePassed, invalidRequest, type LookupFailure, withoutValues } from './failure.ts';
import { emptyReport, type LookupParts, type StoredReply, sendReport } from './ports.ts';
import { failedReply, failedReplyTo, settle } from './replies.ts';
import { deadlineOf, ownedRequest } from './request.ts';

interface DirectReply {
  readonly detailType: string;
  /** JSON text. */
  readonly detail: string;
  /** Present when the lookup failed. */
  readonly failure?: LookupFailure | undefined;
}

/** Time reserved between the gateway's answer and the function's return. */
const marginMs = 500;

/**
 * @param endAt when the platform stops waiting, in milliseconds since the epoch
 * @example const { detail } = await lookUpDirectly({ gateway, operations, clock, ages, report }, event, Date.now() + 25_000);
 */
export async function lookUpDirectly(
  parts: LookupParts,
  event: unknown,
  endAt: number,
): Promise<DirectReply> {
  const { operations, clock, random } = parts;
  const counts = emptyReport();
  const started = clock();
  const done = (
    { detailType, details: [detail = '{}'] }: StoredReply,
    failure?: LookupFailure,
  ): DirectReply => {
    counts[failure ? 'failed' : 'answered']++;
    counts.ages.push(clock() - started);
    sendReport(parts, counts);
    return { detailType, detail, failure };
  };
  const parsed = ownedRequest(event, operations, requesters.function, true);
  // The caller gets the failure as an error, and Lambda writes each error to the log: so it quotes no values.
  const fail = (failure: LookupFailure): DirectReply => {
    const shown = withoutValues(failure);
    if (parsed.ok) return done(failedReply(parsed.lookup, shown), shown);
    const { kind, requester, requestId = '' } = parsed;
    return done(failedReplyTo(kind, { request_id: requestId, requester }, shown, false), shown);
  };
  if (!parsed.ok) return fail(invalidRequest(parsed));
  const { lookup } = parsed;
  const deadline = deadlineOf(lookup, started);
  if (deadline <= started) return fail(deadlinePassed);
  const results = await askAll([{ lookup, deadline }], parts, {
    deadline: Math.min(deadline, endAt - marginMs),
    requestId: crypto.randomUUID(),
  });
  counts.calls = results.calls;
  // Unlike an event, the function's answer may have any size.
  const maxBytes = Number.POSITIVE_INFINITY;
  const settled = settle(lookup, results, { now: clock(), deadline, random, maxBytes });
  if (settled.kind === 'wait') return fail(deadlinePassed);
  return settled.failure ? fail(settled.failure) : done(settled.reply);
}
