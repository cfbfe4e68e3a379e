/** Faults between a gateway and its upstream, for tests to cause on purpose. */

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

export type ApiFault =
  /** Ends the connection before the request is read; nothing is executed. */
  | { readonly kind: 'drop' }
  /** Never answers; nothing is executed. */
  | { readonly kind: 'hang' }
  /** Answers with this instead of executing the operation; the signature and the limit are still checked. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Text is sent as it is, anything else as JSON; empty when absent. */
      readonly body?: unknown;
    }
  /** Like `status`: 200 with a page of HTML. */
  | { readonly kind: 'not-json' }
  /** Like `status`: 200 with a JSON text of this many bytes (at least 2). */
  | { readonly kind: 'oversized'; readonly bytes: number }
  /** Executes the request, then ends the connection without an answer. */
  | { readonly kind: 'drop-after' }
  /** Executes the request, then never answers. */
  | { readonly kind: 'hang-after' }
  /** Executes the request, and answers this many milliseconds later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Executes the request, and answers with this instead of the operation's answer. */
  | { readonly kind: 'answer-after'; readonly status: number; readonly body: string }
  /** Executes the request, sends half of the answer, and ends the connection. */
  | { readonly kind: 'truncate' }
  /** Sends the right answer, gzip-encoded. */
  | { readonly kind: 'gzip' }
  /**
   * Delivers the request twice, as something before the upstream may do. The first delivery is executed. The second has the
   * same nonce and is refused for it, and the client gets that refusal.
   */
  | { readonly kind: 'repeat' };

/** The request that a fault may be chosen for. */
export interface FaultRequest {
  readonly method: string;
  readonly path: string;
  /** Query as sent, without the question mark; empty when there is none. */
  readonly query: string;
  /** Counts the requests with this method and path, from 1. */
  readonly attempt: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the body; empty when there is none. */
  readonly body: string;
}

/** Chooses the fault of a request, if any. */
export type ChooseFault = (request: FaultRequest) => ApiFault | undefined;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `ok`, or one word for the reason: an error code, or the answer that stood in for the operation. */
  readonly outcome: string;
}

/** Answer by which a fault replaces the operation's; undefined for faults that do not. */
export function standInFor(fault: ApiFault | undefined): ApiAnswer | undefined {
  const outcome = 'fault';
  switch (fault?.kind) {
    case 'status': {
      const { status, headers = {}, body = '' } = fault;
      return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body), outcome };
    }
    case 'not-json': {
      const body = '<!doctype html><title>Maintenance</title><p>Back soon.</p>';
      return { status: 200, headers: { 'content-type': 'text/html' }, body, outcome };
    }
    case 'oversized':
      return { status: 200, headers: {}, body: `"${'x'.repeat(Math.max(0, fault.bytes - 2))}"`, outcome };
    default:
      return undefined;
  }
}

/** Sends an answer as the fault requires. `later` runs a task after some milliseconds. */
export function deliver(
  response: ServerResponse,
  answer: ApiAnswer,
  fault: ApiFault | undefined,
  later: (task: () => void, ms: number) => void,
): void {
  const body = Buffer.from(answer.body, 'utf8');
  const send = (bytes: Buffer, more: Record<string, string> = {}) => {
    response.writeHead(answer.status, { ...headersOf(answer, bytes), ...more });
    response.end(bytes);
  };
  switch (fault?.kind) {
    case 'drop-after':
      response.destroy();
      return;
    case 'hang-after':
      return;
    case 'delay':
      later(() => send(body), fault.ms);
      return;
    case 'truncate':
      response.writeHead(answer.status, headersOf(answer, body));
      response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
      return;
    case 'answer-after': {
      const instead = { ...answer, status: fault.status, body: fault.body };
      deliver(response, instead, undefined, later);
      return;
    }
    case 'gzip':
      send(gzipSync(body), { 'content-encoding': 'gzip' });
      return;
    default:
      send(body);
  }
}

function headersOf(answer: ApiAnswer, bytes: Buffer): Record<string, string> {
  return { 'content-type': 'application/json', ...answer.headers, 'content-length': String(bytes.length) };
}
