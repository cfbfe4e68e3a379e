/**
 * Server's half of one MQTT 3.1.1 connection, over any stream of bytes. It uses no library's broker, because none refuses a
 * client with the codes of this interface.
 */

import type { Duplex } from 'node:stream';
import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';
import { connack, type Link } from '../stream-sessions.ts';

/** Identity that a client claims. */
export interface Introduction {
  readonly sessionId: string;
  readonly appKey: string;
}

interface MqttOptions {
  readonly clock: () => number;
  /** Called for each client that asks to connect. @returns the code of the answer */
  readonly onConnect: (client: Introduction, fault: number | undefined) => number;
}

interface MqttDelivery {
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

/** Unread bytes from which on a client loses messages, so that the simulator does not run out of memory. */
const maxUnreadBytes = 8_388_608;

export class MqttConnection implements Link {
  delivery: MqttDelivery = { qos: 0, retain: false };
  /** Number of messages that were sent, and of those that were not, because the client did not read. */
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
      // The parser stops at an unknown protocol, which only the text of its error tells.
      if (this.#state === 'new' && /protocol/i.test(message)) this.#answer(connack.wrongProtocol);
      else this.drop();
    });
    stream.on('data', (bytes: Buffer) => {
      if (this.#state !== 'frozen' && this.#state !== 'over') incoming.parse(bytes);
    });
    // A client that has ended its half reads no more.
    stream.on('end', () => this.drop());
    // The end of the connection follows the error, and is handled above.
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

  /** Sends the client nothing from now on, and ignores its packets. */
  freeze(): void {
    this.#state = 'frozen';
  }

  /** Ends the connection of a client that was silent for longer than its keep-alive allows. */
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
    // Acknowledged without effect: the client gets what it subscribed to over HTTP.
    else if (cmd === 'subscribe')
      this.#write({ cmd: 'suback', messageId, granted: packet.subscriptions.map(() => 0) });
    else if (cmd === 'unsubscribe') this.#write({ cmd: 'unsuback', messageId, granted: [] });
    else if (cmd === 'disconnect') this.#end();
    // No other packet of a client is valid here.
    else if (cmd !== 'puback') this.drop();
  }

  /** Answers a connection; a refusal ends it. */
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

/** Checks how a client connects: it must do as the vendor's own clients do, flags 0xC2. */
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
