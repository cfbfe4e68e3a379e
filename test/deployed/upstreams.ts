/** Servers that answer as a test needs, and record what came over which connection. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'vitest';
import { portFor } from '../support/listening.ts';

export interface Arrival {
  readonly method: string;
  readonly target: string;
  /** In the order and the case that were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** 1 for the first connection that was opened, and so on. */
  readonly connection: number;
}

export type Answer = (response: ServerResponse, arrival: Arrival) => void;

/** An HTTP server for one test. */
export async function upstreamFor(t: TestContext, answer: Answer) {
  const arrivals: Arrival[] = [];
  const connections: Socket[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const arrival = await arrivalOf(request, connections);
    arrivals.push(arrival);
    answer(response, arrival);
  });
  server.on('connection', (socket) => connections.push(socket));
  const port = await portFor(t, server);
  return { url: `http://127.0.0.1:${port}`, port, arrivals, connections };
}

/** A server for bytes that no HTTP server would send; `onRequest` gets each chunk that arrives. */
export async function rawUpstreamFor(
  t: TestContext,
  onRequest: (socket: Socket, chunk: string, connection: number) => void,
) {
  const sockets: Socket[] = [];
  const server = createRawServer((socket) => {
    sockets.push(socket);
    const connection = sockets.length;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => onRequest(socket, chunk, connection));
    socket.on('error', () => {});
  });
  const port = await listening(server);
  t.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, port, sockets };
}

export function listening(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

async function arrivalOf(request: IncomingMessage, connections: readonly Socket[]): Promise<Arrival> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: request.rawHeaders,
    body: Buffer.concat(chunks).toString('utf8'),
    connection: connections.indexOf(request.socket) + 1,
  };
}

/** The value of a header as it was sent. */
export function headerOf({ rawHeaders }: Arrival, name: string): string | undefined {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? undefined : rawHeaders[at + 1];
}
