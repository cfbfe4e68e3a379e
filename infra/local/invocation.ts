/** Invokes a Lambda handler in this process, with a context, a time limit, and a failure as an outcome. */

import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { sleep } from '../../lib/kernel/pauses.ts';

export type ProxyHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

type Outcome =
  /** Unchecked result of the handler. */
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The handler may still be running: like API Gateway, this only stops waiting. */
  | { readonly kind: 'timeout' };

export async function invoke(
  handler: ProxyHandler,
  event: APIGatewayProxyEvent,
  timeoutMs: number,
): Promise<Outcome> {
  const answered = new AbortController();
  try {
    return await Promise.race([
      outcomeOf(handler, event, lambdaContext(timeoutMs)),
      sleep(timeoutMs, answered.signal).then(() => ({ kind: 'timeout' }) as const),
    ]);
  } finally {
    answered.abort();
  }
}

/** Runs the handler. Never rejects, so a failure after the time limit leaves no unhandled rejection. */
async function outcomeOf(
  handler: ProxyHandler,
  event: APIGatewayProxyEvent,
  context: Context,
): Promise<Outcome> {
  try {
    // Lambda carries the answer as JSON: an answer that JSON changes must not work here alone.
    const result: unknown = JSON.parse(JSON.stringify(await handler(event, context)));
    return { kind: 'result', result };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

const functionName = 'local';

function lambdaContext(timeoutMs: number): Context {
  const deadline = performance.now() + timeoutMs;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '128',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: functionName,
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - performance.now())),
    done: refuseCallback,
    fail: refuseCallback,
    succeed: refuseCallback,
  };
}

/** The type requires three callbacks; the deployed Node runtime has only promises. */
function refuseCallback(): never {
  throw new Error('A handler answers by its promise only.');
}
