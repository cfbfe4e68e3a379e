/** A function in Lambda's own runtime client, whose answers a test reads as they come, or leaves unread. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import type { TestContext } from 'vitest';
import { runtimeClient, runtimeEnvironment, runtimeNode } from './runtime-client.ts';

export interface StreamingRuntime {
  /** Gives it an event, with so many milliseconds to answer. @returns the answer, when its first byte is there */
  call(event: object, ms: number): Promise<IncomingMessage>;
  /** Resolves when it has asked for so many events. */
  asked(count: number): Promise<void>;
  /** Resolves with the code with which its process ended. */
  readonly ended: Promise<number | null>;
  /** What it wrote to its log. */
  readonly logged: readonly string[];
}

/** What API Gateway gives a function that streams. */
export const streamEvent = (
  resource: string,
  { headers = {}, query = null, identity }: StreamEventParts,
) => ({
  resource,
  httpMethod: 'GET',
  headers,
  queryStringParameters: query,
  multiValueQueryStringParameters: null,
  body: null,
  isBase64Encoded: false,
  requestContext: { requestId: 'request-1', identity },
});

interface StreamEventParts {
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly query?: Readonly<Record<string, string>> | null;
  readonly identity: Readonly<Record<string, string>>;
}

export async function startStreaming(
  t: TestContext,
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<StreamingRuntime> {
  const asking: ServerResponse[] = [];
  const answers: IncomingMessage[] = [];
  const logged: string[] = [];
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/invocation/next')) asking.push(response);
    else {
      answers.push(request);
      request.once('end', () => response.writeHead(202).end());
    }
    server.emit('moved');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = dirname(file);
  const child = spawn(runtimeNode(), [runtimeClient, 'index.handler'], {
    cwd: folder,
    env: {
      ...runtimeEnvironment,
      ...env,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      LAMBDA_TASK_ROOT: folder,
      _HANDLER: 'index.handler',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    server.emit('moved');
    return code as number | null;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => logged.push(text));
  t.onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    server.closeAllConnections();
    server.close();
  });
  async function reached<T>(list: readonly T[], count: number): Promise<T> {
    while (list.length < count) {
      if (child.exitCode !== null) throw new Error(`the function ended with ${child.exitCode}`);
      await once(server, 'moved');
    }
    return list[count - 1] as T;
  }
  let calls = 0;
  return {
    logged,
    ended,
    async call(event, ms) {
      const next = await reached(asking, ++calls);
      next
        .writeHead(200, {
          'content-type': 'application/json',
          'lambda-runtime-aws-request-id': `call-${calls}`,
          'lambda-runtime-deadline-ms': String(Date.now() + ms),
          'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:local:000000000000:function:streams',
        })
        .end(JSON.stringify(event));
      return reached(answers, calls);
    },
    asked: async (count) => void (await reached(asking, count)),
  };
}

/** The whole of an answer: what API Gateway makes status and headers of, and the body. */
export async function readWhole(answer: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf(Buffer.alloc(8));
  return {
    head: JSON.parse(bytes.subarray(0, end).toString()) as {
      readonly statusCode: number;
      readonly headers: Readonly<Record<string, string>>;
    },
    body: bytes.subarray(end + 8),
  };
}
