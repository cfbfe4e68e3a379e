/** The upstream's broker of quotes over MQTT 3.1.1. A library implements the protocol, except pings, which this file sends. */

import { createRequire } from 'node:module';
import type { IClientOptions, MqttClient, MqttProtocol } from 'mqtt';
import {
  type ConnectionCall,
  type Incoming,
  MarketStreamError,
  type MarketStreamTransport,
} from '../../lib/market-stream/ports.ts';
import { marketStreamUrlFault } from '../../lib/upstream/base-url.ts';
import { maxChannelMessageBytes } from '../../lib/upstream/channel-bound.ts';

interface MqttTransportOptions {
  /** `mqtts://HOST:PORT` or `wss://HOST:PORT/mqtt`; `mqtt://` and `ws://` on a loopback address only, for a simulator. */
  readonly url: string;
  /** Time limit of the connection with its handshakes. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Certificates to trust in place of Node's own, in PEM. */
  readonly ca?: string;
}

/**
 * Loads the MQTT library on demand, because only one function needs it. The library is CommonJS and loads parts of Node with
 * `require`, which a bundle, an ES module, does not have. In a bundle of several parts it has only a default export.
 */
async function library(): Promise<typeof import('mqtt').default> {
  globalThis.require ??= createRequire(import.meta.url);
  return (await import('mqtt')).default;
}

/**
 * @throws TypeError for a URL that is neither encrypted nor on a loopback address
 *
 * @example
 * const transport = createMqttTransport({ url: 'mqtts://quotes.broker.example:1883' });
 * for await (const incoming of transport.open({ sessionId, appKey, pingMs: 2000, signal })) receive(incoming);
 */
export function createMqttTransport(options: MqttTransportOptions): MarketStreamTransport {
  const fault = marketStreamUrlFault(options.url);
  if (fault) throw new TypeError(`the market stream's URL ${fault}`);
  return {
    async *open(call) {
      if (call.signal.aborted) return;
      const { connect } = await library();
      const client = connect(optionsOf(call, options));
      const bound = new PacketBound();
      client.stream.on('data', (chunk: Uint8Array) => {
        if (!bound.admits(chunk))
          client.stream.destroy(new Error('the broker sent a packet that is too long'));
      });
      const incoming = new Inflow(client, call);
      try {
        yield* incoming.items();
      } finally {
        incoming.stop();
        client.end(true);
      }
    },
  };
}

function optionsOf(
  { sessionId, appKey }: ConnectionCall,
  { url, connectTimeoutMs: connectTimeout = 10_000, ca }: MqttTransportOptions,
): IClientOptions {
  const { protocol, hostname, port, pathname: path } = new URL(url);
  return {
    // In parts: the library reads a URL with `url.parse`, and Node warns of that once the library is in a bundle.
    protocol: protocol.slice(0, -1) as MqttProtocol,
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port && { port: Number(port) }),
    path,
    protocolVersion: 4,
    clientId: sessionId,
    username: appKey,
    // The upstream accepts any password: the signed subscription authenticates the session.
    password: crypto.randomUUID(),
    clean: true,
    // In seconds, as in the vendor's clients; pings are sent more often, so that a dead connection is noticed sooner.
    keepalive: 60,
    connectTimeout,
    // The session opens the next connection itself.
    reconnectPeriod: 0,
    rejectUnauthorized: true,
    // A frame may have several packets.
    wsOptions: { maxPayload: 2 * maxChannelMessageBytes },
    ...(ca !== undefined && { ca }),
  };
}

/** Bounds packets by reading their headers: the library would collect 256 MB before it delivers a packet. */
class PacketBound {
  /** Bytes of the packet that are still to come. */
  #left = 0;
  /** Weight of the next seven bits of a length; 0 outside a length (MQTT 3.1.1, 2.2.3). */
  #unit = 0;

  /** @returns false when a packet's header announces too long a packet */
  admits(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.byteLength; at++) {
      const byte = chunk[at]!;
      if (this.#unit > 0) {
        this.#left += (byte & 0x7f) * this.#unit;
        this.#unit = byte < 0x80 ? 0 : this.#unit * 128;
        if (this.#left > maxChannelMessageBytes || this.#unit > 128 ** 3) return false;
      } else if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.byteLength - at);
        this.#left -= skipped;
        at += skipped - 1;
      } else this.#unit = 1;
    }
    return true;
  }
}

/** Queues the library's callbacks as items until they are read. */
class Inflow {
  readonly #client: MqttClient;
  readonly #call: ConnectionCall;
  readonly #queue: Incoming[] = [];
  #end: { readonly error?: MarketStreamError } | undefined;
  #wake: () => void = () => {};
  #pinging: ReturnType<typeof setInterval> | undefined;
  #askedAt: number | undefined;

  constructor(client: MqttClient, call: ConnectionCall) {
    this.#client = client;
    this.#call = call;
    client.on('connect', () => {
      this.#pinging = setInterval(() => this.#ping(), call.pingMs);
      this.#add({ kind: 'connected' });
    });
    client.on('message', (topic, payload, { retain }) => {
      // A retained message may be of any age, so it is ignored.
      if (!retain) this.#add({ kind: 'message', topic, payload });
    });
    client.on('packetreceive', ({ cmd }) => {
      if (cmd !== 'pingresp' || this.#askedAt === undefined) return;
      this.#add({ kind: 'sign', askedAt: this.#askedAt });
      this.#askedAt = undefined;
    });
    client.on('error', (cause) => {
      const code = 'code' in cause && typeof cause.code === 'number' ? cause.code : undefined;
      this.#finish(new MarketStreamError(code, { cause }));
    });
    client.on('close', () => this.#finish(new MarketStreamError()));
    call.signal.addEventListener('abort', this.#aborted);
  }

  readonly #aborted = (): void => this.#finish();

  #ping(): void {
    // With two pings under way, an answer would not show which one it answers.
    if (this.#askedAt !== undefined) return;
    this.#askedAt = Date.now();
    this.#client.sendPing();
  }

  #add(incoming: Incoming): void {
    this.#queue.push(incoming);
    this.#wake();
  }

  #finish(error?: MarketStreamError): void {
    this.#end ??= error ? { error } : {};
    this.#wake();
  }

  stop(): void {
    clearInterval(this.#pinging);
    this.#call.signal.removeEventListener('abort', this.#aborted);
  }

  async *items(): AsyncGenerator<Incoming, void> {
    for (;;) {
      yield* this.#queue.splice(0);
      if (this.#queue.length > 0) continue;
      if (this.#end?.error && !this.#call.signal.aborted) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
