/**
 * A lookup whose requester waits for the reply himself, a workflow's step for one: no store, queue or bus. He
 * can wait and ask again cheaper than a running function can, so that nothing waits here.
 */

import type { Operation } from '../catalogue/operation.ts';
import { parseRequest } from '../events/parse-request.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type AgeOptions, askAll } from './ask.ts';
import { createBatchMetrics } from './batch-metrics.ts';
import { deadlineOf } from './deadline.ts';
import { deadlinePassed, type Failure, invalid } from './failure.ts';
import type { LookupReport, StoredReply } from './ports.ts';
import { failedReply, failedReplyTo } from './replies.ts';
import { settle } from './settle.ts';

export interface DirectReply {
  readonly detailType: string;
  /** JSON. */
  readonly detail: string;
  /** Present when the lookup failed. */
  readonly failure?: Failure;
}

export interface DirectOptions {
  readonly gateway: Gateway;
  readonly operations: readonly Operation[];
  readonly clock: () => number;
  readonly random: () => number;
  readonly figures: AgeOptions | undefined;
  readonly report: (report: LookupReport) => void;
}

/** From the answer to its way out of the function. */
const marginMs = 500;

export function createDirect(options: DirectOptions) {
  const { gateway, operations, clock, random, figures, report } = options;
  return async (event: unknown, endAt: number): Promise<DirectReply> => {
    const tally = createBatchMetrics(report);
    const started = clock();
    const done = ({ detailType, details: [detail = '{}'] }: StoredReply, failure?: Failure): DirectReply => {
      tally.settled(failure ? 'failed' : 'answered', clock() - started);
      tally.done();
      return { detailType, detail, ...(failure && { failure }) };
    };
    const parsed = parseRequest(event, operations);
    if (!parsed.ok) {
      const { kind, requestId = '' } = parsed;
      return done(failedReplyTo(kind, { request_id: requestId }, invalid(parsed)), invalid(parsed));
    }
    const { lookup } = parsed;
    const own = deadlineOf(lookup, started);
    if (own <= started) return done(failedReply(lookup, deadlinePassed), deadlinePassed);
    const deadline = Math.min(own, endAt - marginMs);
    const asked = await askAll([{ lookup, deadline: own }], {
      gateway,
      clock,
      deadline,
      requestId: crypto.randomUUID(),
      figures,
    });
    tally.calls(asked.calls);
    // The answer need not fit an event.
    const patience = { now: clock(), deadline: own, random, mostBytes: Number.POSITIVE_INFINITY };
    const settled = settle(lookup, asked, patience);
    return settled.kind === 'reply'
      ? done(settled.reply, settled.failure)
      : done(failedReply(lookup, deadlinePassed), deadlinePassed);
  };
}
