/**
 * Accepts all transports on one loopback port: MQTT, MQTT over WebSocket at `/mqtt`, and both in TLS if there is a
 * certificate. The first byte of a connection tells them apart.
 */

import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { closeWith, listenOn } from '../../listen.ts';

const webSocketPath = '/mqtt';

export type Transport = 'mqtt' | 'mqtts' | 'ws' | 'wss';

export interface Way {
  readonly transport: Transport;
  /** Stream of MQTT's bytes. */
  readonly stream: Duplex;
  /** Ends a WebSocket with a frame that has text in place of the code; simply ends any other connection. */
  sayBye(): void;
}

interface DoorOptions {
  readonly port: number;
  /** Key and certificate in PEM. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
  readonly onWay: (way: Way) => void;
}

interface Door {
  readonly port: number;
  close(): Promise<void>;
}

/** First byte of each kind of connection. */
const firstByte = { connect: 0x10, handshake: 0x16 } as const;

/** Listens on 127.0.0.1 only; a port in use rejects with the original `EADDRINUSE` error. */
export async function openDoor({ port, tls, onWay }: DoorOptions): Promise<Door> {
  const http = createHttpServer((_, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => offered.has('mqtt') && 'mqtt',
  });
  http.on('upgrade', (request: IncomingMessage, socket: Socket | TLSSocket, head: Buffer) => {
    if (request.url?.split('?', 1)[0] === webSocketPath)
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const transport = 'encrypted' in socket ? 'wss' : 'ws';
        onWay({ transport, stream: createWebSocketStream(webSocket), sayBye: () => sayBye(socket) });
      });
    else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
  });
  const admit = (socket: Socket | TLSSocket, byte: number) => {
    if (byte === firstByte.connect) {
      const transport = 'encrypted' in socket ? 'mqtts' : 'mqtt';
      onWay({ transport, stream: socket, sayBye: () => socket.destroy() });
    } else http.emit('connection', socket);
  };
  const encrypted = tls && createTlsServer(tls, (socket) => whenBegun(socket, (byte) => admit(socket, byte)));
  encrypted?.on('tlsClientError', () => {});
  const open = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    whenBegun(socket, (byte) => {
      if (byte !== firstByte.handshake) admit(socket, byte);
      else if (encrypted) encrypted.emit('connection', socket);
      else socket.destroy();
    });
  });
  return { port: await listenOn(listener, port), close: closeWith(listener, open) };
}

/** Reads the first byte and puts it back. */
function whenBegun(socket: Socket, sort: (byte: number) => void): void {
  socket.on('error', () => {});
  socket.once('readable', () => {
    const bytes = socket.read() as Buffer | null;
    // No bytes: the connection ended before it began.
    if (!bytes?.length) return;
    socket.unshift(bytes);
    sort(bytes[0]!);
  });
}

/** Sends a close frame of ten bytes, of which the first two are read as its code; no endpoint may send that code. */
function sayBye(socket: Socket): void {
  socket.end(Buffer.concat([Buffer.of(0x88, 10), Buffer.from('bye-bye!!!')]));
}
