/** Connections to the upstream: kept ones for reads, a new one for each request with a side effect. */

// Only its types: see below.
import type http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';

export interface Sockets {
  /** Begins a request on a kept connection, or on one that carries only this request. */
  request(url: URL, options: https.RequestOptions, connection: 'kept' | 'fresh'): http.ClientRequest;
}

/**
 * Longest idle time of a connection. After it, a device on the way may have dropped the connection, and a request on it
 * would get no error but silence up to its time limit. (Upstreams close after 5 to 75 seconds.)
 */
const maxIdleMs = 20_000;

/** @param clock a clock in milliseconds that goes on while the function is frozen */
export async function openSockets(protocol: string, clock: () => number, ca?: string): Promise<Sockets> {
  if (protocol === 'https:') {
    const tls = ca === undefined ? {} : { ca };
    return socketsOf(https, (keepAlive) => new https.Agent({ keepAlive, ...tls }), clock);
  }
  if (protocol !== 'http:') throw new TypeError('neither https nor http');
  // Plain HTTP is for loopback only. An import would touch all exports of the module, which loads the whole of fetch, for
  // 16 ms. Node has `getBuiltinModule` from 20.16 on.
  const http = process.getBuiltinModule?.('node:http') ?? (await import('node:http')).default;
  return socketsOf(http, (keepAlive) => new http.Agent({ keepAlive }), clock);
}

function socketsOf(
  { request }: Pick<typeof https, 'request'>,
  createAgent: (keepAlive: boolean) => http.Agent,
  clock: () => number,
): Sockets {
  const kept = createAgent(true);
  // The agent outlives its connections: it remembers TLS sessions, which shorten the next handshake.
  const fresh = createAgent(false);
  const idleSince = new WeakMap<object, number>();
  kept.on('free', (socket: Socket) => idleSince.set(socket, clock()));
  /** Closes idle connections by the clock, because the agent's own timer stands still while the function is frozen. */
  const dropIdle = () => {
    for (const socket of Object.values(kept.freeSockets).flatMap((sockets) => sockets ?? []))
      if (clock() - (idleSince.get(socket) ?? 0) > maxIdleMs) socket.destroy();
  };
  return {
    request(url, options, connection) {
      if (connection === 'kept') dropIdle();
      return request(url, { ...options, agent: connection === 'kept' ? kept : fresh });
    },
  };
}
