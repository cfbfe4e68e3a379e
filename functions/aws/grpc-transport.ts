/**
 * The upstream's event stream over gRPC, on Node's own HTTP/2: one call, one connection.
 *
 * Node does flow control, settings and the end of a connection; gRPC adds only a frame of five bytes and the names of
 * ends. A gRPC library would nearly double the function's size and start-up time, because it loads `node:http` and with
 * it all of fetch.
 */

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from 'node:http2';
import { within } from '../../lib/kernel/pauses.ts';
import { eventServicePath } from '../../lib/trade-events/messages.ts';
import { type StreamCall, StreamError, type TradeEventTransport } from '../../lib/trade-events/ports.ts';
import { eventsUrlFault } from '../../lib/upstream/base-url.ts';
import { FrameReader, httpStatusName, resetName, statusName, toFrame } from './grpc-frames.ts';

interface GrpcTransportOptions {
  /** `https://HOST:PORT`; `http://` on a loopback address only, for a simulator. */
  readonly url: string;
  /** Time limit of the connection with its TLS handshake. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Certificates to trust in place of Node's own, in PEM. */
  readonly ca?: string;
}

/**
 * Sends no pings of its own: a gRPC server may close a connection on which they come more often than every five
 * minutes. The upstream pings, and the caller ends a stream that is silent for too long.
 *
 * @throws TypeError for a URL that is neither `https:` nor on a loopback address
 *
 * @example
 * const transport = createGrpcTransport({ url: 'https://events.broker.example' });
 * for await (const message of transport.open({ metadata, message: request, signal })) receive(message);
 */
export function createGrpcTransport({
  url,
  connectTimeoutMs = 10_000,
  ca,
}: GrpcTransportOptions): TradeEventTransport {
  const fault = eventsUrlFault(url);
  if (fault) throw new TypeError(`the event stream's URL ${fault}`);
  return {
    async *open(call) {
      if (call.signal.aborted) return;
      const session = connect(url, { settings: { enablePush: false }, ...(ca !== undefined && { ca }) });
      // The session's streams end with it, and report the error.
      session.on('error', () => {});
      const abort = () => session.destroy();
      call.signal.addEventListener('abort', abort, { once: true });
      try {
        await connected(session, connectTimeoutMs);
        yield* messagesOf(requestOn(session, call));
      } catch (error) {
        if (!call.signal.aborted) throw error;
      } finally {
        call.signal.removeEventListener('abort', abort);
        session.destroy();
      }
    },
  };
}

function connected(session: ClientHttp2Session, timeoutMs: number): Promise<void> {
  const connecting = new Promise<void>((resolve, reject) => {
    session.once('error', reject);
    session.once('close', () => reject());
    session.once('connect', () => resolve());
  });
  return within(connecting, timeoutMs).catch((cause: unknown) => {
    throw new StreamError('UNAVAILABLE', { cause });
  });
}

function requestOn(session: ClientHttp2Session, { metadata, message }: StreamCall): ClientHttp2Stream {
  const stream = session.request({
    ...metadata,
    ':method': 'POST',
    ':path': eventServicePath,
    'content-type': 'application/grpc',
    'grpc-accept-encoding': 'identity',
    te: 'trailers',
  });
  stream.end(toFrame(message));
  return stream;
}

/** The messages of a stream; a slow reader slows the upstream down through HTTP/2's window. */
async function* messagesOf(stream: ClientHttp2Stream): AsyncGenerator<Uint8Array> {
  const end = endOf(stream);
  const frames = new FrameReader();
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      if (end().isForeign) break;
      yield* frames.read(chunk);
    }
  } catch (error) {
    if (error instanceof StreamError) throw error;
    throw new StreamError(end().code ?? 'UNAVAILABLE', { cause: error });
  }
  const code = end().code ?? 'INTERNAL';
  if (code !== 'OK') throw new StreamError(code);
}

/** The end of a call as the other side reported it: trailers count before the HTTP status and a reset. */
function endOf(stream: ClientHttp2Stream) {
  let status: string | undefined;
  let foreign: string | undefined;
  const note = ({ 'grpc-status': value }: IncomingHttpHeaders) => {
    if (typeof value === 'string') status = statusName(value);
  };
  stream.on('trailers', note);
  stream.on('response', (headers) => {
    note(headers);
    const { ':status': http = 0, 'content-type': type = '' } = headers;
    if (http !== 200) foreign = httpStatusName(http);
    else if (!type.startsWith('application/grpc')) foreign = 'UNKNOWN';
  });
  return () => ({
    code: status ?? foreign ?? (stream.rstCode ? resetName(stream.rstCode) : undefined),
    /** Whether the answer is not gRPC, so that its body holds no messages. */
    isForeign: foreign !== undefined,
  });
}
