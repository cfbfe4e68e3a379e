/** The event stream over HTTP/2, against peers that end it in each way there is. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { FrameReader, toFrame } from '../../functions/aws/grpc-frames.ts';
import { createGrpcTransport } from '../../functions/aws/grpc-transport.ts';
import { StreamError } from '../../lib/trade-events/ports.ts';
import { selfSigned } from '../deployed/self-signed.ts';

interface Peer {
  readonly url: string;
  readonly sessions: Set<Http2Session>;
  /** Ends every connection without a word of HTTP/2. */
  cut(): void;
}

async function startPeer(
  serve: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void,
  server: Http2Server = createServer(),
): Promise<Peer> {
  const sessions = new Set<Http2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    serve(stream, headers);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${port}`, sessions, cut };
}

const text = (message: Uint8Array) => Buffer.from(message).toString();
const grpc = { ':status': 200, 'content-type': 'application/grpc+proto' };

/** Opens, and collects what came until the end. */
async function listen(
  url: string,
  options: {
    readonly signal?: AbortSignal;
    readonly onMessage?: () => void;
    readonly ca?: string;
    readonly connectTimeoutMs?: number;
  } = {},
): Promise<{ readonly messages: readonly string[]; readonly code?: string }> {
  const { signal = new AbortController().signal, onMessage, ca, connectTimeoutMs = 2000 } = options;
  const messages: string[] = [];
  const transport = createGrpcTransport({ url, connectTimeoutMs, ...(ca && { ca }) });
  try {
    const call = { metadata: { 'x-app-key': 'k' }, message: Buffer.from('hello'), signal };
    for await (const message of transport.open(call)) {
      messages.push(text(message));
      onMessage?.();
    }
    return { messages };
  } catch (error) {
    assert.ok(error instanceof StreamError, String(error));
    return { messages, code: error.status };
  }
}

function endWith(stream: ServerHttp2Stream, trailers: Record<string, string>, ...messages: string[]): void {
  stream.respond(grpc, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  for (const message of messages) stream.write(toFrame(Buffer.from(message)));
  stream.end();
}

test('sends the metadata and exactly the bytes that were signed, and gives each message', async () => {
  let seen: Record<string, unknown> = {};
  const body: Buffer[] = [];
  const { url } = await startPeer((stream, headers) => {
    seen = headers;
    stream.on('data', (chunk: Buffer) => body.push(chunk));
    stream.on('end', () => endWith(stream, { 'grpc-status': '0' }, 'one', '', 'three'));
  });
  expect(await listen(url)).toEqual({ messages: ['one', '', 'three'] });
  expect(seen).toMatchObject({
    ':method': 'POST',
    ':path': '/grpc.trade.event.EventService/Subscribe',
    'content-type': 'application/grpc',
    te: 'trailers',
    'x-app-key': 'k',
  });
  expect(Buffer.concat(body)).toEqual(Buffer.from([0, 0, 0, 0, 5, ...Buffer.from('hello')]));
});

test('wherever the network cuts the bytes, the messages are the same', async () => {
  const sizes: { cuts: number[]; messages: string[] }[] = [];
  const { url } = await startPeer(async (stream) => {
    const { cuts = [], messages = [] } = sizes.at(-1) ?? {};
    stream.respond(grpc, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    let rest = Buffer.concat(messages.map((message) => toFrame(Buffer.from(message))));
    for (const cut of cuts) {
      await new Promise((resolve) => stream.write(rest.subarray(0, cut), resolve));
      rest = rest.subarray(cut);
    }
    stream.end(rest);
  });
  const cuts = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      cuts,
      fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 6 }),
      async (cuts, messages) => {
        sizes.push({ cuts, messages });
        expect(await listen(url)).toEqual({ messages });
      },
    ),
    { numRuns: 40 },
  );
});

test('each byte is copied once, however small the frames are', () => {
  const message = Buffer.alloc(1024 * 1024, 'a');
  const reader = new FrameReader();
  let count = 0;
  // Copied with each chunk, it would be half a terabyte.
  for (const byte of toFrame(message))
    for (const read of reader.read(Uint8Array.of(byte))) {
      count++;
      expect(message.equals(read)).toBe(true);
    }
  expect(count).toBe(1);
});

test('an end that the upstream explains has its name', async () => {
  const ends: ((stream: ServerHttp2Stream) => void)[] = [
    (stream) => endWith(stream, { 'grpc-status': '16' }, 'one'),
    (stream) => stream.respond({ ...grpc, 'grpc-status': '12' }, { endStream: true }),
    (stream) => endWith(stream, { 'grpc-status': 'soon' }),
    (stream) => endWith(stream, {}),
    (stream) => {
      stream.respond({ ':status': 503, 'content-type': 'text/html' });
      stream.end('<h1>busy</h1>');
    },
    (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' });
      stream.end('<h1>hello</h1>');
    },
    (stream) => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM),
    (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
    (stream) => {
      stream.respond(grpc);
      stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR);
    },
    (stream) => {
      stream.respond(grpc);
      stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    },
    (stream) => {
      stream.respond(grpc);
      stream.end(Buffer.from([1, 0, 0, 0, 1, 7]));
    },
    (stream) => {
      stream.respond(grpc);
      stream.write(Buffer.from([0, 255, 0, 0, 1, 7]));
    },
    // One byte more than a message may have.
    (stream) => {
      stream.respond(grpc);
      stream.end(Buffer.from([0, 0, 0x10, 0, 1, 7]));
    },
  ];
  let next: ((stream: ServerHttp2Stream) => void) | undefined;
  const { url } = await startPeer((stream) => next?.(stream));
  const codes: (string | undefined)[] = [];
  for (const end of ends) {
    next = end;
    codes.push((await listen(url)).code);
  }
  expect(codes).toEqual([
    'UNAUTHENTICATED',
    'UNIMPLEMENTED',
    'UNKNOWN',
    'INTERNAL',
    'UNAVAILABLE',
    'UNKNOWN',
    'RESOURCE_EXHAUSTED',
    'UNAVAILABLE',
    'INTERNAL',
    'RESOURCE_EXHAUSTED',
    'INTERNAL',
    'RESOURCE_EXHAUSTED',
    'RESOURCE_EXHAUSTED',
  ]);
});

test('a connection that breaks is UNAVAILABLE, after what came before', async () => {
  const { url, cut } = await startPeer((stream) => {
    stream.respond(grpc);
    stream.write(toFrame(Buffer.from('one')));
  });
  expect(await listen(url, { onMessage: cut })).toEqual({ messages: ['one'], code: 'UNAVAILABLE' });
});

test('a peer that goes away finishes its stream first', async () => {
  const { url } = await startPeer((stream) => {
    stream.respond(grpc, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '14' }));
    stream.write(toFrame(Buffer.from('one')));
    stream.session?.goaway(constants.NGHTTP2_NO_ERROR);
    stream.end(toFrame(Buffer.from('two')));
  });
  expect(await listen(url)).toEqual({ messages: ['one', 'two'], code: 'UNAVAILABLE' });
});

test('an abort ends the connection at once, also before the peer says anything, and is no error', async () => {
  for (const isMute of [false, true]) {
    let opened: () => void = () => {};
    const opening = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const { url, sessions } = await startPeer((stream) => {
      if (!isMute) {
        stream.respond(grpc);
        stream.write(toFrame(Buffer.from('one')));
      }
      opened();
    });
    const controller = new AbortController();
    const { signal } = controller;
    const listening = isMute
      ? listen(url, { signal })
      : listen(url, { signal, onMessage: () => controller.abort() });
    await opening;
    const closed = [...sessions].map((session) => once(session, 'close'));
    if (isMute) controller.abort();
    expect(await listening).toEqual({ messages: isMute ? [] : ['one'] });
    await Promise.all(closed);
    expect(sessions.size).toBe(0);
  }
});

test('a reader that stops reading closes the connection', async () => {
  const { url, sessions } = await startPeer((stream) => {
    stream.respond(grpc);
    stream.write(toFrame(Buffer.from('one')));
  });
  const { signal } = new AbortController();
  for await (const message of createGrpcTransport({ url }).open({
    metadata: {},
    message: new Uint8Array(),
    signal,
  })) {
    expect(text(message)).toBe('one');
    break;
  }
  await Promise.all([...sessions].map((session) => once(session, 'close')));
  expect(sessions.size).toBe(0);
});

test('what is already aborted opens no connection', async () => {
  const { url, sessions } = await startPeer(() => {});
  expect(await listen(url, { signal: AbortSignal.abort() })).toEqual({ messages: [] });
  expect(sessions.size).toBe(0);
});

test('a host that accepts and says nothing, and one that is not there, are UNAVAILABLE', async () => {
  const silent = createTcpServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  // The handshake of TLS never comes.
  const url = `https://127.0.0.1:${port}`;
  assert.deepEqual(await listen(url, { connectTimeoutMs: 20 }), { messages: [], code: 'UNAVAILABLE' });
  silent.close();
  assert.deepEqual(await listen(`http://127.0.0.1:${port}`), { messages: [], code: 'UNAVAILABLE' });
});

test('over TLS the certificate must be good for the host', async () => {
  const { key, cert } = selfSigned();
  const server = createSecureServer({ key, cert }) as unknown as Http2Server;
  const { url } = await startPeer((stream) => endWith(stream, { 'grpc-status': '0' }, 'one'), server);
  const { port } = new URL(url);
  expect(await listen(`https://localhost:${port}`, { ca: cert })).toEqual({ messages: ['one'] });
  expect(await listen(`https://localhost:${port}`)).toEqual({ messages: [], code: 'UNAVAILABLE' });
  expect(await listen(`https://127.0.0.1:${port}`, { ca: cert })).toEqual({
    messages: [],
    code: 'UNAVAILABLE',
  });
});

test('plaintext is for loopback alone', () => {
  for (const url of [
    'http://broker.example',
    'ftp://127.0.0.1',
    'https://broker.example/path',
    'broker.example',
    'http://127.0.0.1.broker.example',
  ])
    assert.throws(() => createGrpcTransport({ url }), TypeError, url);
  for (const url of [
    'https://broker.example',
    'https://broker.example:8443',
    'http://127.0.0.1:8789',
    'http://[::1]:8789',
    'http://localhost:1',
  ])
    createGrpcTransport({ url });
});
