/**
 * Market-data stream of the simulated upstream: MQTT on loopback. It pushes the market's changes to the sessions that
 * subscribed over HTTP.
 */

import type { SimulatedUpstream } from '../handle.ts';
import type { StreamLimits } from '../stream-sessions.ts';
import { openDoor } from './door.ts';
import type { MarketStreamFault } from './faults.ts';
import { MarketPushes, type PushOptions, type StreamConnection } from './pushes.ts';

export type { MarketStreamFault, OddMessage } from './faults.ts';
export type { PushedMessage } from './pushes.ts';

export interface MarketStreamOptions extends StreamLimits, PushOptions {
  /** Port; 0, the default, takes any free one. */
  readonly port?: number;
  /** Key and certificate in PEM, with which the port also accepts TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface SimulatedMarketStream {
  readonly port: number;
  /** URL `mqtt://127.0.0.1:` and the port, which also accepts WebSockets at `/mqtt`, and TLS if it has a certificate. */
  readonly url: string;
  /** Requested connections, oldest first: the last 10 000. */
  readonly connections: readonly StreamConnection[];
  /** Symbols to which each open session is subscribed, by session id. */
  readonly sessions: Readonly<Record<string, readonly string[]>>;
  /** Number of messages that were sent, by topic. */
  readonly sent: Readonly<Record<string, number>>;
  /** Pushes what is due at the clock's moment, besides the interval. */
  push(): void;
  bring(fault: MarketStreamFault): void;
}

interface MarketStreamServer extends SimulatedMarketStream {
  close(): Promise<void>;
}

export async function startMarketStream(
  upstream: SimulatedUpstream,
  clock: () => number,
  options: MarketStreamOptions,
): Promise<MarketStreamServer> {
  const pushes = new MarketPushes(upstream, clock, options);
  const door = await openDoor({
    port: options.port ?? 0,
    tls: options.tls,
    onWay: (way) => pushes.admit(way),
  });
  return {
    port: door.port,
    url: `mqtt://127.0.0.1:${door.port}`,
    connections: pushes.connections,
    get sessions() {
      return Object.fromEntries(upstream.world.streamSessions.open.map(({ id, symbols }) => [id, symbols]));
    },
    get sent() {
      return Object.fromEntries(pushes.sent);
    },
    push: () => pushes.push(),
    bring: (fault) => pushes.bring(fault),
    close: () => {
      pushes.stop();
      return door.close();
    },
  };
}
