/** HTTP server of the simulated upstream: reads a whole request, has it handled, and sends the answer. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOn } from '../listen.ts';
import {
  type ApiAnswer,
  type ApiFault,
  type ChooseFault,
  deliver,
  type FaultRequest,
  standInFor,
} from './faults.ts';
import { handle, type SimulatedUpstream, serverRefusal } from './handle.ts';
import { headersOf, type ReceivedLog } from './received.ts';
import type { WireRequest } from './verify.ts';

const maxBodyBytes = 1_048_576;

interface ServeOptions {
  readonly port: number;
  readonly clock: () => number;
  readonly fault: ChooseFault;
  readonly upstream: SimulatedUpstream;
  readonly received: ReceivedLog;
}

export interface Server {
  readonly port: number;
  close(): Promise<void>;
}

export async function serve(options: ServeOptions): Promise<Server> {
  const timers = new Set<NodeJS.Timeout>();
  const later = (task: () => void, ms: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      task();
    }, ms);
    timers.add(timer);
  };
  const attempts = new Map<string, number>();
  let arrivals = 0;

  async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const newId = () => {
      const requestId = `sim-${++arrivals}`;
      response.setHeader('x-request-id', requestId);
      return requestId;
    };
    const requestId = newId();
    const body = await readBody(request);
    if (body === 'aborted') return;
    if (body === 'too-large') {
      // The rest of the body is not read, so the connection cannot be used again.
      response.setHeader('connection', 'close');
      const message = 'request entity too large';
      const answer = serverRefusal(413, 'too-large', message, pathOf(request), options.clock());
      deliver(response, answer, undefined, later);
      return;
    }
    const wire: WireRequest = {
      method: request.method ?? '',
      // Node reads the target byte by byte; a client that does not escape sends UTF-8.
      rawTarget: Buffer.from(request.url ?? '', 'latin1').toString('utf8'),
      rawHeaders: request.rawHeaders,
      body,
      now: options.clock(),
    };
    // Sends the simulator's own clock, so that a client can tell how far its own is off.
    response.setHeader('date', new Date(wire.now).toUTCString());
    const fault = options.fault(describe(wire, attempts));
    const answer = execute(wire, fault, requestId);
    if (answer)
      deliver(response, fault?.kind === 'repeat' ? execute(wire, fault, newId())! : answer, fault, later);
    else if (fault?.kind === 'drop') response.destroy();
  }

  /** Handles one delivery of a request; undefined when a fault ends it before it is read. */
  function execute(wire: WireRequest, fault: ApiFault | undefined, requestId: string): ApiAnswer | undefined {
    const isLost = fault?.kind === 'drop' || fault?.kind === 'hang';
    const answer = isLost ? undefined : handle(wire, options.upstream, standInFor(fault));
    options.received.add({
      requestId,
      method: wire.method,
      target: wire.rawTarget,
      headers: headersOf(wire.rawHeaders),
      body: Buffer.from(wire.body).toString('utf8'),
      time: wire.now,
      outcome: answer?.outcome ?? 'fault',
      fault: fault?.kind,
    });
    return answer;
  }

  const server = createServer({ requireHostHeader: false, keepAliveTimeout: 60_000 }, (request, response) => {
    onRequest(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (!response.headersSent) {
        const answer = serverRefusal(500, 'failure', message, pathOf(request), options.clock());
        deliver(response, answer, undefined, later);
      }
    });
  });
  const port = await listenOn(server, options.port);
  let closing: Promise<void> | undefined;
  return {
    port,
    close: () => {
      closing ??= new Promise((resolve) => {
        for (const timer of timers) clearTimeout(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0]!;

async function readBody(request: IncomingMessage): Promise<Buffer | 'aborted' | 'too-large'> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      // Leaving the loop would end the connection before an answer, so the rest is read and dropped.
      if (length <= maxBodyBytes) chunks.push(chunk);
    }
  } catch {
    return 'aborted';
  }
  return length > maxBodyBytes ? 'too-large' : Buffer.concat(chunks);
}

function describe(
  { method, rawTarget, rawHeaders, body }: WireRequest,
  attempts: Map<string, number>,
): FaultRequest {
  const mark = rawTarget.indexOf('?');
  const path = mark < 0 ? rawTarget : rawTarget.slice(0, mark);
  const query = mark < 0 ? '' : rawTarget.slice(mark + 1);
  const key = `${method} ${path}`;
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, attempt);
  return {
    method,
    path,
    query,
    attempt,
    headers: headersOf(rawHeaders),
    body: Buffer.from(body).toString('utf8'),
  };
}
