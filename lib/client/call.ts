/**
 * One call, one request: check → prepare → send → read the answer. The request is sent once more only if the gateway
 * refused its token, and so did nothing with it.
 */

import type { Operation } from '../catalogue/operation.ts';
import { neverConnected } from '../upstream/certainty.ts';
import { type ReceivedAnswer, readAnswer } from './answer.ts';
import type { Connection, PreparedRequest } from './connection.ts';
import { checkTimeout, type Deadline, startDeadline } from './deadline.ts';
import { OutcomeUnknownError, TimedOutError, UnreachableError } from './errors.ts';
import { type SentOptions, toRequest } from './request.ts';
import type { Answer, CallOptions } from './types.ts';

/** Members that stay the same from call to call. */
export interface CallTarget {
  readonly operation: Operation;
  readonly path: string;
  readonly connection: Connection;
  readonly timeoutMs: number;
}

export async function call(
  { operation, path, connection, timeoutMs }: CallTarget,
  input: unknown,
  options: CallOptions & SentOptions = {},
): Promise<Answer<unknown>> {
  const limit = checkTimeout(options.timeoutMs ?? timeoutMs);
  const request = toRequest(operation, path, input, options);
  const deadline = startDeadline(limit, options.signal);
  /** Runs work before a request is sent, or after it was refused without effect: a failure means that nothing was done. */
  const preparing = <T>(work: Promise<T>) =>
    deadline.within(work).catch((error: unknown) => {
      throw deadline.ended ? givenUp(operation, deadline, limit) : error;
    });
  const sending = (prepared: PreparedRequest) =>
    deadline.within(send(connection, prepared, deadline.signal)).catch((error: unknown) => {
      throw lostAnswer(operation, deadline, limit, error);
    });
  try {
    if (deadline.ended) throw givenUp(operation, deadline, limit);
    const prepared = await preparing(connection.prepare(request));
    const first = await sending(prepared);
    const again = connection.again && (await preparing(connection.again(prepared, first)));
    return readAnswer(operation, again ? await sending(again) : first);
  } finally {
    deadline.clear();
  }
}

async function send(
  { fetch: custom }: Connection,
  { url, method, headers, body }: PreparedRequest,
  signal: AbortSignal,
): Promise<ReceivedAnswer> {
  const response = await (custom ?? fetch)(url, {
    method,
    headers,
    signal,
    // A redirect would send the key or the signature to another server.
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The error of an ended call that changed nothing at the other end. */
const givenUp = ({ id }: Operation, deadline: Deadline, limit: number): unknown =>
  deadline.ended === 'aborted' ? deadline.reason : new TimedOutError(id, limit);

/** The error of a request that was sent and got no complete answer. */
function lostAnswer(operation: Operation, deadline: Deadline, limit: number, error: unknown): unknown {
  const { id, sideEffect } = operation;
  if (sideEffect && (deadline.ended || !neverConnected(error))) {
    const why =
      deadline.ended === 'aborted'
        ? 'the call was aborted'
        : deadline.ended === 'timed_out'
          ? `no answer came within ${limit} ms`
          : 'its answer was lost';
    const cause = deadline.ended === 'aborted' ? deadline.reason : deadline.ended ? undefined : error;
    return new OutcomeUnknownError(id, why, sideEffect.findOut, { cause });
  }
  if (deadline.ended) return givenUp(operation, deadline, limit);
  return new UnreachableError(id, 'no answer came', error);
}
