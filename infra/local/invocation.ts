/** One invocation of a Lambda handler in this process: its context, its time limit, its failures. */

import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { sleep } from '../../lib/kernel/pauses.ts';

export type ProxyHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

export type Outcome =
  /** What the handler gave back, unchecked. */
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** It may still be running: like API Gateway, this only stops waiting. */
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

/** Never rejects, so a handler that fails after its time limit leaves no unhandled rejection. */
async function outcomeOf(
  handler: ProxyHandler,
  event: APIGatewayProxyEvent,
  context: Context,
): Promise<Outcome> {
  try {
    // Lambda carries the answer as JSON: what JSON drops or changes must not work here only.
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

/** The type demands these three; the Node runtime that is deployed has only promises. */
function refuseCallback(): never {
  throw new Error('A handler answers by its promise only.');
}
