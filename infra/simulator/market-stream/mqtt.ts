/**
 * One connection that speaks MQTT 3.1.1: the server's half, over any stream of bytes. No broker of a library stands behind
 * it, because none refuses a client with the codes of this interface.
 */

import type { Duplex } from 'node:stream';
import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';
import { connack, type Link } from '../stream-sessions.ts';

/** Who a client says that it is. */
export interface Introduction {
  readonly sessionId: string;
  readonly appKey: string;
}

export interface MqttOptions {
  readonly clock: () => number;
  /** Called for each client that asks to be connected. @returns the code that it is answered with */
  readonly onConnect: (client: Introduction, fault: number | undefined) => number;
}

export interface MqttDelivery {
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

/** A client that does not read loses messages from here on, so that the simulator does not lose its memory. */
const maxUnreadBytes = 8_388_608;

export class MqttConnection implements Link {
  delivery: MqttDelivery = { qos: 0, retain: false };
  /** How many messages were sent, and how many not, because the client did not read. */
  sent = 0;
  unsent = 0;
  readonly #stream: Duplex;
  readonly #options: MqttOptions;
  #state: 'new' | 'connected' | 'frozen' | 'over' = 'new';
  #keepaliveMs = 0;
  #heardAt = 0;
  #messageId = 0;

  constructor(stream: Duplex, options: MqttOptions) {
    this.#stream = stream;
    this.#options = options;
    const incoming = parser({ protocolVersion: 4 });
    incoming.on('packet', (packet: Packet) => this.#take(packet));
    incoming.on('error', ({ message }: Error) => {
      // The parser stops at a protocol that it does not know, and says no more of it.
      if (this.#state === 'new' && /protocol/i.test(message)) this.#answer(connack.wrongProtocol);
      else this.drop();
    });
    stream.on('data', (bytes: Buffer) => {
      if (this.#state !== 'frozen' && this.#state !== 'over') incoming.parse(bytes);
    });
    // A client that has ended its half hears nothing any more.
    stream.on('end', () => this.drop());
    // The end of the connection follows, and is all that counts.
    stream.on('error', () => {});
  }

  /** @returns whether the message was sent */
  publish(topic: string, payload: Uint8Array): boolean {
    if (this.#state !== 'connected') return false;
    if (this.#stream.writableLength > maxUnreadBytes) {
      this.unsent += 1;
      return false;
    }
    this.sent += 1;
    this.#messageId = (this.#messageId % 65_535) + 1;
    this.#write({
      cmd: 'publish',
      topic,
      payload: Buffer.from(payload),
      dup: false,
      ...this.delivery,
      ...(this.delivery.qos > 0 && { messageId: this.#messageId }),
    });
    return true;
  }

  drop(): void {
    this.#state = 'over';
    this.#stream.destroy();
  }

  /** From now on the client hears nothing, and its words do not count. */
  freeze(): void {
    this.#state = 'frozen';
  }

  /** Ends the connection of a client that was silent for longer than it promised. */
  endIfSilent(now: number): void {
    if (this.#state === 'connected' && this.#keepaliveMs > 0 && now - this.#heardAt > 1.5 * this.#keepaliveMs)
      this.drop();
  }

  #take(packet: Packet): void {
    this.#heardAt = this.#options.clock();
    if (packet.cmd === 'connect') this.#connect(packet);
    else if (this.#state !== 'connected') this.drop();
    else this.#reply(packet);
  }

  #connect(packet: IConnectPacket): void {
    if (this.#state === 'connected') {
      this.#answer(connack.alreadyAuthenticated);
      return;
    }
    const { clientId: sessionId, username: appKey = '', keepalive = 0 } = packet;
    this.#keepaliveMs = 1000 * keepalive;
    const code = this.#options.onConnect({ sessionId, appKey }, faultOf(packet));
    if (code === connack.accepted) this.#state = 'connected';
    this.#answer(code);
  }

  #reply(packet: Packet): void {
    const { cmd, messageId = 0 } = packet;
    if (cmd === 'pingreq') this.#write({ cmd: 'pingresp' });
    // Granted, and nothing more: what is pushed is what was subscribed over HTTP.
    else if (cmd === 'subscribe')
      this.#write({ cmd: 'suback', messageId, granted: packet.subscriptions.map(() => 0) });
    else if (cmd === 'unsubscribe') this.#write({ cmd: 'unsuback', messageId, granted: [] });
    else if (cmd === 'disconnect') this.#end();
    // A client has nothing else to say here.
    else if (cmd !== 'puback') this.drop();
  }

  /** A refusal is the last word. */
  #answer(returnCode: number): void {
    this.#write({ cmd: 'connack', sessionPresent: false, returnCode });
    if (returnCode !== connack.accepted) this.#end();
  }

  #end(): void {
    this.#state = 'over';
    this.#stream.end(() => this.#stream.destroy());
  }

  #write(packet: Packet): void {
    if (this.#state !== 'frozen' && this.#stream.writable)
      this.#stream.write(generate(packet, { protocolVersion: 4 }));
  }
}

/** What is wrong with how a client connects: it must be as the vendor's own clients do, flags 0xC2. */
function faultOf(packet: IConnectPacket): number | undefined {
  const { protocolId, protocolVersion, bridgeMode } = packet as IConnectPacket & {
    readonly bridgeMode?: boolean;
  };
  if (protocolId !== 'MQTT' || protocolVersion !== 4 || bridgeMode) return connack.wrongProtocol;
  if (packet.clientId === '') return connack.idBlank;
  if (!packet.username) return connack.keyBlank;
  if (packet.password === undefined) return connack.authenticationFailed;
  // Neither a last will nor a session that outlives its connection was ever seen.
  return packet.will || !packet.clean ? connack.unknown : undefined;
}
