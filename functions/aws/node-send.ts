/**
 * Sends over Node's own HTTP client, which gives what fetch does not: a choice of connections. A function is
 * frozen between two calls, and a connection that it kept may be dead when it thaws.
 */

import type { IncomingMessage } from 'node:http';
import type { OutgoingRequest, Send, SendLimits, SendResult } from '../../lib/gateway/index.ts';
import { readAtMost } from './read-at-most.ts';
import { openSockets, type Sockets } from './sockets.ts';

export interface NodeSendOptions {
  /** Certificates to trust in place of Node's own, in PEM. */
  readonly ca?: string;
  /** Now, in milliseconds since the epoch; a clock that goes on while the function is frozen. */
  readonly clock?: () => number;
}

export function createNodeSend({ ca, clock = Date.now }: NodeSendOptions = {}): Send {
  const opened = new Map<string, Promise<Sockets>>();
  return async (request, limits) => {
    const deadline = performance.now() + limits.timeoutMs;
    const url = new URL(request.url);
    const opening = opened.get(url.protocol) ?? openSockets(url.protocol, clock, ca);
    opened.set(url.protocol, opening);
    const sockets = await opening;
    const first = await sendOnce(sockets, url, request, limits, deadline, !limits.freshConnection);
    if (first !== 'dead') return first;
    /*
     * A kept connection ended under a read before one byte of an answer: the other end had closed it already,
     * so the request never arrived and counts nowhere. Where that should be wrong for once, the repeat is the
     * same bytes with the same nonce, which the upstream refuses instead of serving it twice.
     */
    const second = await sendOnce(sockets, url, request, limits, deadline, false);
    return second === 'dead' ? { kind: 'lost' } : second;
  };
}

/** `dead` is said of kept connections only, so never of fresh ones. */
function sendOnce(
  sockets: Sockets,
  url: URL,
  { method, headers, body }: OutgoingRequest,
  { maxBytes }: SendLimits,
  deadline: number,
  mayReuse: boolean,
): Promise<SendResult | 'dead'> {
  return new Promise((resolve) => {
    const options = {
      method,
      headers: {
        ...headers,
        // The very text that was signed; Node would come to the same.
        host: url.host,
        'accept-encoding': 'gzip',
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
    };
    const outgoing = sockets.request(url, options, mayReuse ? 'kept' : 'fresh');
    let written = false;
    let answered = false;
    let timedOut = false;
    const finish = (result: SendResult | 'dead') => {
      clearTimeout(timer);
      resolve(result);
      // What is left of the answer is not worth reading, nor the connection keeping.
      if (result === 'dead' || result.kind !== 'answer') outgoing.destroy();
    };
    const fail = (error?: unknown) => {
      // The head leaves only over a finished connection, so that before it certainly nothing was sent.
      if (!written) finish({ kind: 'unreachable' });
      else if (timedOut) finish({ kind: 'timeout' });
      else finish(outgoing.reusedSocket && !answered && isReset(error) ? 'dead' : { kind: 'lost' });
    };
    const timer = setTimeout(() => {
      timedOut = true;
      fail();
    }, deadline - performance.now());

    outgoing.on('error', fail);
    outgoing.once('socket', (socket) => {
      const write = () => {
        written = true;
        outgoing.end(body);
      };
      if (outgoing.reusedSocket) write();
      // For TLS the handshake must be over and the certificate found good: `connect` comes before both.
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', write);
    });
    outgoing.once('response', (incoming) => {
      answered = true;
      readAtMost(incoming, maxBytes).then(
        (read) => finish(read ? toAnswer(incoming, read) : { kind: 'too_large' }),
        fail,
      );
    });
  });
}

const isReset = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');

function toAnswer(incoming: IncomingMessage, body: Uint8Array<ArrayBuffer>): SendResult {
  return {
    kind: 'answer',
    status: incoming.statusCode ?? 0,
    header: (name) => {
      const value = incoming.headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body,
  };
}
