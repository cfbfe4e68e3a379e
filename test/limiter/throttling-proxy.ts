/** A loopback proxy before a DynamoDB engine that answers a part of the requests as a throttled table does. */

import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ThrottlingProxy {
  readonly endpoint: string;
  readonly counts: { passed: number; throttled: number };
  close(): Promise<void>;
}

const throttledBody = JSON.stringify({
  __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
  message: 'The level of configured provisioned throughput for the table was exceeded.',
});

/** @param share of the requests, from 0 to 1, by chance */
export async function startThrottlingProxy(target: string, share: number): Promise<ThrottlingProxy> {
  const counts = { passed: 0, throttled: 0 };
  const server = createServer((incoming, response) => {
    if (Math.random() < share) {
      counts.throttled++;
      incoming.resume();
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(throttledBody);
    } else {
      counts.passed++;
      pass(target, incoming, response);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function pass(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '/' } = incoming;
  const outgoing = httpRequest(new URL(url, target), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}
