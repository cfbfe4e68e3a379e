/** A client of the event stream for the simulator's tests, with a signature and messages of its own. */

import { createHash, createHmac, randomUUID } from 'node:crypto';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  Client,
  type ClientReadableStream,
  credentials as channel,
  Metadata,
  type StatusObject,
} from '@grpc/grpc-js';
import { eventPath } from '../../infra/simulator/events/index.ts';
import type { Simulator } from '../../infra/simulator/index.ts';
import { until } from '../support/until.ts';
import { credentials, testTime } from './support.ts';

export interface Draft {
  readonly accounts?: readonly string[];
  readonly subscribeType?: number;
  /** The message's bytes, in place of those that follow from the rest. */
  readonly bytes?: Uint8Array;
  readonly appKey?: string;
  readonly appSecret?: string;
  readonly nonce?: string;
  readonly now?: number;
  readonly path?: string;
  /** Replaces metadata before signing. */
  readonly sign?: Readonly<Record<string, string>>;
  /** Replaces metadata after signing: undefined leaves one out, and a list sends several. */
  readonly change?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface Event {
  readonly eventType: number;
  readonly subscribeType: number;
  readonly contentType: string;
  readonly payload: string;
  readonly requestId: string;
  readonly timestamp: number;
}

export interface OpenStream {
  /** All that came, oldest first. */
  readonly events: readonly Event[];
  /** Of orders, positions and options: the payloads. */
  // biome-ignore lint/suspicious/noExplicitAny: payloads are read in many shapes.
  readonly payloads: readonly any[];
  /** The status of gRPC; undefined while the stream is open. */
  readonly status: number | undefined;
  /** Waits until so many events came, or the stream ended. */
  came(count: number): Promise<void>;
  ended(): Promise<number>;
  close(): void;
}

/** Opens a stream; every one is to be closed before its simulator. */
export function subscribe({ events: { port } }: Simulator, draft: Draft = {}): OpenStream {
  const client = new Client(`127.0.0.1:${port}`, channel.createInsecure(), {
    // Otherwise clients of one address share a connection, and its end would be that of all.
    'grpc.use_local_subchannel_pool': 1,
  });
  const message = draft.bytes ?? requestBytes(draft);
  const call: ClientReadableStream<Event> = client.makeServerStreamRequest(
    draft.path ?? eventPath,
    (bytes: Uint8Array) => Buffer.from(bytes),
    decodeEvent,
    message,
    metadataFor(message, draft),
  );
  const events: Event[] = [];
  let status: number | undefined;
  call.on('data', (event: Event) => events.push(event));
  call.on('error', () => {});
  call.on('status', ({ code }: StatusObject) => {
    status = code;
  });
  const ended = async () => {
    await until(() => status !== undefined);
    return status!;
  };
  return {
    events,
    get payloads() {
      return events.filter(({ eventType }) => eventType > 4).map(({ payload }) => JSON.parse(payload));
    },
    get status() {
      return status;
    },
    came: (count) => until(() => events.length >= count || status !== undefined),
    ended,
    close() {
      call.cancel();
      client.close();
    },
  };
}

export function requestBytes({ accounts = [], subscribeType = 7, now = testTime }: Draft): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32(0x08).uint32(subscribeType).uint32(0x10).int64(now);
  for (const account of accounts) writer.uint32(0x2a).string(account);
  return writer.finish();
}

/** Signed, then spoiled as the draft says. */
export function metadataFor(message: Uint8Array, draft: Draft = {}): Metadata {
  const signed: Record<string, string> = {
    'x-app-key': draft.appKey ?? credentials.appKey,
    'x-signature-algorithm': 'HMAC-SHA256',
    'x-signature-nonce': draft.nonce ?? randomUUID(),
    'x-signature-version': '1.0',
    'x-timestamp': new Date(draft.now ?? testTime).toISOString().replace(/\.\d+Z/, 'Z'),
    ...draft.sign,
  };
  const pairs = Object.keys(signed)
    .sort()
    .map((name) => `${name}=${signed[name]}`);
  const text = `${pairs.join('=')}&${createHash('sha256').update(message).digest('hex')}`;
  const encoded = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const hmac = createHmac('sha256', `${draft.appSecret ?? credentials.appSecret}&`).update(encoded);
  const metadata = new Metadata();
  for (const [name, value] of Object.entries({
    ...signed,
    'x-signature': hmac.digest('base64'),
    ...draft.change,
  }))
    for (const one of value === undefined ? [] : [value].flat()) metadata.add(name, one);
  return metadata;
}

function decodeEvent(bytes: Uint8Array): Event {
  const event = { eventType: 0, subscribeType: 0, contentType: '', payload: '', requestId: '', timestamp: 0 };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) event.eventType = reader.int32();
    else if (field === 2) event.subscribeType = reader.uint32();
    else if (field === 3 && type === WireType.LengthDelimited) event.contentType = reader.string();
    else if (field === 4) event.payload = reader.string();
    else if (field === 5) event.requestId = reader.string();
    else if (field === 6) event.timestamp = Number(reader.int64());
    else reader.skip(type, field);
  }
  return event;
}
