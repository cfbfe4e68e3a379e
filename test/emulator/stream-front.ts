/**
 * What the emulator's API Gateway and its Lambda cannot do: answers as they come. The function of order streams runs in
 * Lambda's own runtime client, from its deployed bundle and with its deployed environment; everything else is passed on.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { TestContext } from 'vitest';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { startStreaming, streamEvent } from '../lambda/streaming-runtime.ts';
import type { Ministack } from '../support/ministack.ts';
import { clientConfig, commandEnvironment } from './deployment.ts';

export interface StreamFrontOptions {
  readonly emulator: Ministack;
  /** Of the deployed API, in the emulator's form. */
  readonly url: string;
  readonly apiKeyId: string;
  readonly functionName: string;
  /** The folder of its bundle. */
  readonly bundle: string;
}

/** @returns the URL to call in place of the API's */
export async function startStreamFront(t: TestContext, options: StreamFrontOptions): Promise<string> {
  const { emulator, url, apiKeyId, functionName, bundle } = options;
  const { Environment } = await new LambdaClient(clientConfig(emulator)).send(
    new GetFunctionConfigurationCommand({ FunctionName: functionName }),
  );
  const runtime = await startStreaming(t, join(bundle, 'index.mjs'), {
    ...Environment?.Variables,
    ...commandEnvironment(emulator),
  });
  async function stream({ headers }: IncomingMessage, response: ServerResponse) {
    const identity = { apiKeyId, sourceIp: '127.0.0.1' };
    const answer = await runtime.call(streamEvent(streamOrderEvents.path, { headers, identity }), 60_000);
    response.on('close', () => answer.destroy());
    let head = Buffer.alloc(0);
    for await (const part of answer) {
      if (response.headersSent) {
        response.write(part);
        continue;
      }
      head = Buffer.concat([head, part as Buffer]);
      const end = head.indexOf(Buffer.alloc(8));
      if (end < 0) continue;
      const { statusCode, headers } = JSON.parse(head.subarray(0, end).toString());
      response.writeHead(statusCode, headers).write(head.subarray(end + 8));
    }
    response.end();
  }
  async function passOn(request: IncomingMessage, response: ServerResponse) {
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const body = await buffer(request);
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    const { 'content-encoding': ____, 'content-length': _____, ...told } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, told).end(Buffer.from(await answer.arrayBuffer()));
  }
  const server = createServer((request, response) => {
    const isStream = request.url?.startsWith(streamOrderEvents.path);
    // A client that leaves ends what is read for it.
    (isStream ? stream : passOn)(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  assert.ok(port);
  return `http://127.0.0.1:${port}`;
}
