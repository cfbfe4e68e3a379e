/**
 * Sends over Node's own HTTP client, because fetch offers no choice of connections. A function is frozen between two
 * calls, and a connection that it kept may be dead when it thaws.
 */

import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { issuerFailure, type ReadText } from '../../lib/access/read-text.ts';
import type { Attempt, OutgoingRequest, Send, SendLimits } from '../../lib/gateway/index.ts';
import { unreachable } from '../../lib/gateway/send.ts';
import { openSockets, type Sockets } from './sockets.ts';

export interface NodeSendOptions {
  /** Certificates to trust in place of Node's own, in PEM. */
  readonly ca?: string;
  /** Now, in milliseconds since the epoch; a clock that goes on while the function is frozen. */
  readonly clock?: () => number;
}

/** @example const gateway = createGateway({ operations, upstreamBaseUrl, secrets, send: createNodeSend() }); */
export function createNodeSend({ ca, clock = Date.now }: NodeSendOptions = {}): Send {
  const opened = new Map<string, Promise<Sockets>>();
  return async (request, limits) => {
    const url = new URL(request.url);
    const opening = opened.get(url.protocol) ?? openSockets(url.protocol, clock, ca);
    opened.set(url.protocol, opening);
    return sendOnce(await opening, url, request, limits);
  };
}

function sendOnce(
  sockets: Sockets,
  url: URL,
  { method, headers, body }: OutgoingRequest,
  { timeoutMs, maxBytes, freshConnection, letGo }: SendLimits,
): Promise<Attempt> {
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: {
        ...headers,
        // The host exactly as it was signed; Node would set the same.
        host: url.host,
        'accept-encoding': 'gzip',
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
    };
    const outgoing = sockets.request(url, options, freshConnection ? 'fresh' : 'kept');
    let written = false;
    let answered = false;
    let timedOut = false;
    let finished = false;
    const finish = (result: Attempt) => {
      finished = true;
      clearTimeout(timer);
      resolve(result);
      // Neither the rest of the response nor the connection is needed any more.
      if (result.kind !== 'answer') outgoing.destroy();
    };
    const fail = (error?: unknown) => {
      // The head leaves only over a finished connection, so before that certainly nothing was sent.
      if (!written) finish(unreachable(error));
      else if (timedOut) finish({ kind: 'timeout' });
      else
        finish(outgoing.reusedSocket && !answered && isReset(error) ? { kind: 'dropped' } : { kind: 'lost' });
    };
    const timer = setTimeout(() => {
      timedOut = true;
      fail();
    }, timeoutMs);

    outgoing.on('error', fail);
    outgoing.once('socket', (socket) => {
      const write = () => {
        if (finished) return;
        written = true;
        outgoing.end(body);
      };
      const ready = () => {
        if (!letGo) return write();
        letGo(write).then(
          (may) => may || finish({ kind: 'not_sent' }),
          (defect) => {
            reject(defect);
            finish({ kind: 'not_sent' });
          },
        );
      };
      if (outgoing.reusedSocket) ready();
      // For TLS the handshake must be over and the certificate found good: `connect` comes before both.
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', ready);
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

function toAnswer(incoming: IncomingMessage, body: Uint8Array<ArrayBuffer>): Attempt {
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

/** Decoders by content encoding. Requests accept only gzip; supporting the others costs nothing. */
const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads the body; undefined when it is too long. Rejects when it is cut off or cannot be decompressed. */
async function readAtMost(
  incoming: IncomingMessage,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Reads chunk by chunk, to stop as soon as a small body unpacks to one that is too large.
  for await (const chunk of decoded(incoming) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decoded(incoming: IncomingMessage): AsyncIterable<unknown> {
  const encoding = incoming.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding === 'identity') return incoming;
  if (!Object.hasOwn(decoders, encoding)) throw new Error('an encoding that was not asked for');
  // An error of either stream ends the other; the reader gets it from the decoder.
  return pipeline(incoming, decoders[encoding as keyof typeof decoders](), () => {});
}

/** Reads texts of an issuer of tokens: fetch would take longer to load than the rest of the function. */
export function createNodeText(send: Send = createNodeSend()): ReadText {
  return async (url, limits) => {
    const request = { method: 'GET', url, headers: { accept: 'application/json' } } as const;
    // Minutes pass between two reads, so a kept connection would be dead.
    const result = await send(request, { ...limits, freshConnection: true });
    if (result.kind === 'too_large') throw issuerFailure('too_large');
    if (result.kind !== 'answer') throw issuerFailure('not_read');
    if (result.status !== 200) throw issuerFailure('not_200');
    return new TextDecoder('utf-8', { fatal: true }).decode(result.body);
  };
}
