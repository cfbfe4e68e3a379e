/** A local API Gateway for one test, and ways to talk to it. */

import assert from 'node:assert/strict';
import net from 'node:net';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { TestContext } from 'vitest';
import {
  type AccessLogEntry,
  type ApiGatewayOptions,
  type ProxyHandler,
  type RefusalDetail,
  startApiGateway,
} from '../../infra/local/api-gateway.ts';

export const key = 'a-key-of-this-test-run';
export const withKey = { 'x-api-key': key };

const statuses = {
  forbidden: 403,
  missing_api_key: 403,
  unknown_api_key: 403,
  throttled: 429,
  unknown_operation: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  gateway_error: 502,
  gateway_timeout: 504,
};

/** Stands in for the core's table of problems. */
export const refuse: ApiGatewayOptions['refuse'] = (code, detail) => ({
  status: statuses[code],
  headers: { 'Content-Type': 'application/problem+json' },
  body: JSON.stringify({ code, detail }),
});

export const fine: APIGatewayProxyResult = { statusCode: 200, body: '"fine"' };

/** A gateway for one test, with the handler at GET and POST /thing, and what it reported. */
export async function gatewayFor(
  t: TestContext,
  handler: ProxyHandler,
  options: Partial<ApiGatewayOptions> = {},
) {
  const logged: AccessLogEntry[] = [];
  const errors: unknown[] = [];
  const gateway = await startApiGateway({
    routes: ['GET', 'POST'].map((method) => ({ method, path: '/thing', handler })),
    apiKeys: [
      { id: 'other', value: 'another-key-of-this-test-run' },
      { id: 'mine', value: key },
    ],
    plan: { ratePerSecond: 1000, burst: 1000 },
    refuse,
    log: (entry) => logged.push(entry),
    onHandlerError: (error) => errors.push(error),
    ...options,
  });
  t.onTestFinished(() => gateway.close());
  return { ...gateway, logged, errors };
}

export async function refusalOf(
  response: Response,
): Promise<{ status: number; code: string; detail: RefusalDetail }> {
  const { code, detail } = (await response.json()) as { code: string; detail: RefusalDetail };
  assert.equal(response.headers.get('content-type'), 'application/problem+json');
  assert.equal(response.headers.get('x-amzn-requestid'), detail.requestId);
  return { status: response.status, code, detail };
}

/** Sends bytes as they are and gives all that comes back until the server closes the connection. */
export async function raw(port: number, text: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  socket.setEncoding('latin1').end(text);
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

/** A promise that is settled from outside. */
export function signal<T = void>() {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
