/**
 * A client of the market-data stream for the simulator's tests, written from the facts about the stream alone: MQTT 3.1.1 byte
 * by byte, and messages by their field numbers.
 */

import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Simulator } from '../../infra/simulator/index.ts';
import { subscribeMarketData } from '../../lib/catalogue/index.ts';
import { until } from '../support/until.ts';
import { credentials } from './support.ts';

/** How it introduces itself: as the vendor's clients do, unless told otherwise. */
export interface Introduction {
  readonly sessionId?: string;
  readonly appKey?: string;
  /** MQTT 3.1.1 is level 4. */
  readonly level?: number;
  readonly protocol?: string;
  /** 0xC2: user, password, clean session. */
  readonly flags?: number;
  readonly keepalive?: number;
}

export interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: number;
  readonly retain: boolean;
}

export interface StreamClient {
  /** The code that the connection was answered with; undefined before. */
  readonly code: number | undefined;
  readonly messages: readonly Message[];
  /** First bytes of all other packets that came, without the answer to the connection. */
  readonly packets: readonly number[];
  readonly isOver: boolean;
  /** Waits until it was answered, or the connection ended. */
  answered(): Promise<number | undefined>;
  /** Waits until it has all that was sent to it by now, and gives the messages that came since the last time. */
  told(): Promise<readonly Message[]>;
  over(): Promise<void>;
  /** Stops reading what comes, and goes on. */
  pause(): void;
  resume(): void;
  write(...bytes: number[]): void;
  introduce(introduction: Introduction): void;
  close(): void;
}

export const connectPlain = ({ marketStream }: Simulator): Socket => connect(marketStream!.port, '127.0.0.1');

export const ping = [0xc0, 0];
export const disconnect = [0xe0, 0];
/** To a topic, with quality 0, as packet 1. */
export const subscribeTo = (topic: string) => [0x82, 5 + topic.length, 0, 1, ...textBytes(topic), 0];

/** Introduces itself over a connection, unless it is to say nothing. */
export function speak(stream: Duplex, introduction?: Introduction): StreamClient {
  let bytes = Buffer.alloc(0);
  let code: number | undefined;
  let isOver = false;
  let read = 0;
  const messages: Message[] = [];
  const packets: number[] = [];
  const take = (first: number, body: Buffer) => {
    if (first === 0x20) code = body[1];
    else if (first >> 4 === 3) messages.push(messageOf(first, body));
    else packets.push(first);
  };
  stream.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let packet = nextPacket(bytes); packet; packet = nextPacket(bytes)) {
      take(packet.first, packet.body);
      bytes = bytes.subarray(packet.length);
    }
  });
  stream.on('error', () => {});
  stream.on('close', () => {
    isOver = true;
  });
  const pongs = () => packets.filter((first) => first === 0xd0).length;
  const client: StreamClient = {
    get code() {
      return code;
    },
    messages,
    packets,
    get isOver() {
      return isOver;
    },
    async answered() {
      await until(() => code !== undefined || isOver);
      return code;
    },
    async told() {
      const before = pongs();
      client.write(...ping);
      await until(() => pongs() > before || isOver);
      const news = messages.slice(read);
      read = messages.length;
      return news;
    },
    over: () => until(() => isOver),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    write: (...given) => void stream.write(Buffer.from(given)),
    introduce: (given) => void stream.write(introductionBytes(given)),
    close: () => stream.destroy(),
  };
  if (introduction) client.introduce(introduction);
  return client;
}

/** Opens the session that the examples of the catalogue name, until the simulator is closed. */
export async function openExampleSession(simulator: Simulator): Promise<void> {
  const { session_id: sessionId } = subscribeMarketData.example.body;
  await speak(connectPlain(simulator), { sessionId }).answered();
}

const textBytes = (text: string) => {
  const bytes = Buffer.from(text);
  return [bytes.length >> 8, bytes.length & 0xff, ...bytes];
};

function introductionBytes({
  sessionId = 'session-1',
  appKey = credentials.appKey,
  level = 4,
  protocol = 'MQTT',
  flags = 0xc2,
  keepalive = 60,
}: Introduction): Buffer {
  const body = [
    ...textBytes(protocol),
    level,
    flags,
    keepalive >> 8,
    keepalive & 0xff,
    // MQTT 5 has properties here: none.
    ...(level === 5 ? [0] : []),
    ...textBytes(sessionId),
    ...(flags & 0x04 ? [...textBytes('will'), ...textBytes('gone')] : []),
    ...(flags & 0x80 ? textBytes(appKey) : []),
    ...(flags & 0x40 ? textBytes('any password') : []),
  ];
  return Buffer.from([0x10, ...lengthBytes(body.length), ...body]);
}

const lengthBytes = (length: number): number[] =>
  length < 128 ? [length] : [(length & 0x7f) | 0x80, ...lengthBytes(length >> 7)];

/** The first packet of what came so far, if it is whole. */
function nextPacket(bytes: Buffer) {
  let [length, at] = [0, 1];
  for (let byte = 0x80; byte & 0x80; at++) {
    if (at >= bytes.length) return undefined;
    byte = bytes[at]!;
    length += (byte & 0x7f) << (7 * (at - 1));
  }
  if (bytes.length < at + length) return undefined;
  return { first: bytes[0]!, body: bytes.subarray(at, at + length), length: at + length };
}

function messageOf(first: number, body: Buffer): Message {
  const qos = (first >> 1) & 3;
  const end = 2 + body.readUInt16BE(0);
  const payload = Buffer.from(body.subarray(end + (qos > 0 ? 2 : 0)));
  return { topic: body.toString('utf8', 2, end), payload, qos, retain: (first & 1) === 1 };
}

/** Fields of protobuf by number, all of them texts or messages; throws for what is none. */
export function fieldsOf(bytes: Buffer): ReadonlyMap<number, readonly Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  for (let at = 0; at < bytes.length; ) {
    const [tag, from] = varint(bytes, at);
    const [length, start] = varint(bytes, from);
    if ((tag & 7) !== 2 || start + length > bytes.length) throw new Error(`no text at ${at}`);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), bytes.subarray(start, start + length)]);
    at = start + length;
  }
  return fields;
}

function varint(bytes: Buffer, from: number): readonly [value: number, next: number] {
  let value = 0;
  for (let at = from; at < bytes.length; at++) {
    value += (bytes[at]! & 0x7f) << (7 * (at - from));
    if (bytes[at]! < 0x80) return [value, at + 1];
  }
  throw new Error('cut');
}

/** Text by field number; those of the first field, the basic ones, have 100 added. */
export function textsOf({ payload }: Message): Readonly<Record<number, string>> {
  const fields = fieldsOf(payload);
  const texts: Record<number, string> = {};
  for (const [field, values] of fields) if (field !== 1) texts[field] = values.map(String).join(', ');
  for (const basic of fields.get(1) ?? [])
    for (const [field, values] of fieldsOf(basic)) texts[100 + field] = values.map(String).join(', ');
  return texts;
}
