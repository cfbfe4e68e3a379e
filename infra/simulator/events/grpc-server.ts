/**
 * gRPC server over HTTP/2 on loopback, in plaintext with prior knowledge, for one method that answers one message with a
 * stream of messages. It uses Node's own HTTP/2: a test must be able to end a connection, make it go dead and read metadata
 * line by line, and a client must not be tested by a server of the same library.
 */

import {
  createServer as createHttp2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer } from 'node:net';
import { closeWith, listenOn } from '../../listen.ts';
import { Wire } from './wire.ts';

/** Status codes of gRPC that this server sends. */
export const grpcStatus = {
  ok: 0,
  invalidArgument: 3,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export interface GrpcCall {
  /** Metadata names and values in turn, as they came. */
  readonly rawMetadata: readonly string[];
  /** Bytes of the serialised request. */
  readonly message: Uint8Array;
}

/** Answering half of a call. */
export interface GrpcAnswer {
  send(message: Uint8Array): void;
  /** Ends the stream with a gRPC status. */
  end(status: number, message: string): void;
  /** Ends the underlying connection without a message. */
  drop(): void;
  /** Sends GOAWAY with an HTTP/2 code, then ends the connection. */
  goAway(code: number): void;
  /** Makes the connection go dead: it stays up, and nothing comes through any more. */
  freeze(): void;
}

interface GrpcServerOptions {
  readonly port: number;
  /** The only path, such as `/package.Service/Method`. */
  readonly path: string;
  /** Handles a call. The function that it returns is called once, when client or server has ended the stream. */
  readonly onCall: (call: GrpcCall, answer: GrpcAnswer) => () => void;
}

interface GrpcServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 only; a port in use rejects with the original `EADDRINUSE` error. */
export async function serveGrpc({ port, path, onCall }: GrpcServerOptions): Promise<GrpcServer> {
  const http2 = createHttp2Server();
  const wires = new Set<Wire>();
  const wireOf = new WeakMap<Http2Session, Wire>();
  http2.on('sessionError', () => {});
  const onStream: OnStream = (stream, headers, _flags, rawMetadata) => {
    stream.on('error', () => {});
    const wire = wireOf.get(stream.session!)!;
    if (!String(headers['content-type']).startsWith('application/grpc'))
      return stream.respond({ ':status': 415 }, { endStream: true });
    if (headers[':path'] !== path)
      return refuse(stream, grpcStatus.unimplemented, `No such method, ${headers[':path']}`);
    readMessage(stream, (read) => {
      if (!(read instanceof Uint8Array)) return refuse(stream, read.status, read.message);
      stream.once('close', onCall({ rawMetadata, message: read }, answerOn(stream, wire)));
    });
  };
  http2.on('stream', onStream);
  const listener = createServer({ noDelay: true }, (socket) => {
    const wire = new Wire(socket);
    wires.add(wire);
    wire.once('close', () => wires.delete(wire));
    // `emit` starts the session before it returns.
    http2.once('session', (session) => wireOf.set(session, wire));
    http2.emit('connection', wire);
  });
  return { port: await listenOn(listener, port), close: closeWith(listener, wires) };
}

/** Listener's type; Node's own types lack the last parameter, the header lines as they came. */
type OnStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: readonly string[],
) => void;

const contentType = { ':status': 200, 'content-type': 'application/grpc' } as const;

const trailersOf = (status: number, message: string): OutgoingHttpHeaders => ({
  'grpc-status': String(status),
  ...(message && { 'grpc-message': encodeURIComponent(message) }),
});

/** Refuses a call before the first message, by headers alone. */
function refuse(stream: ServerHttp2Stream, status: number, message: string): void {
  if (!stream.closed && !stream.headersSent)
    stream.respond({ ...contentType, ...trailersOf(status, message) }, { endStream: true });
}

function answerOn(stream: ServerHttp2Stream, wire: Wire): GrpcAnswer {
  const isOpen = () => !stream.closed && !stream.destroyed && stream.writable;
  const begin = () => {
    if (!stream.headersSent) stream.respond(contentType, { waitForTrailers: true });
  };
  return {
    send(message) {
      if (!isOpen()) return;
      begin();
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      stream.write(Buffer.concat([head, message]));
    },
    end(status, message) {
      if (!isOpen()) return;
      begin();
      stream.once('wantTrailers', () => stream.sendTrailers(trailersOf(status, message)));
      stream.end();
    },
    drop: () => wire.destroy(),
    goAway(code) {
      stream.session?.goaway(code);
      // The frame is written by then, and the connection ends after it.
      setImmediate(() => wire.end());
    },
    freeze: () => wire.freeze(),
  };
}

type ReadMessage = Uint8Array | { readonly status: number; readonly message: string };

/** Reads the call's one message, once the client has ended its half. */
function readMessage(stream: ServerHttp2Stream, done: (read: ReadMessage) => void): void {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.once('end', () => {
    // A client that gave up ends its half, too, and cannot be answered.
    if (stream.aborted || stream.destroyed) return;
    const bytes = Buffer.concat(chunks);
    if (bytes[0] === 1) done({ status: grpcStatus.unimplemented, message: 'Compression is not supported' });
    else if (bytes.length < 5 || bytes.readUInt32BE(1) !== bytes.length - 5)
      done({ status: grpcStatus.internal, message: 'The call must have one message' });
    else done(new Uint8Array(bytes.subarray(5)));
  });
}
