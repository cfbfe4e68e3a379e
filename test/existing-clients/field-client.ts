/**
 * Clients of the interface as they were seen in the field: how they write a request, sign it and read the answer.
 * Their own code, independent of the signer and of the simulator's verification.
 */

import { createHash, createHmac, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';

export interface FieldClient {
  readonly name: string;
  /** What it says in x-version. */
  readonly version: 'v2' | 'v3';
  readonly headers: Readonly<Record<string, string>>;
  /** How it writes a flag in a query. */
  flag(value: boolean): string;
  /** How it percent-encodes a query value. */
  encode(value: string): string;
  /** How it serialises a body. */
  serialise(body: unknown): string;
}

const upperHex = (text: string) =>
  text.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Of the current version: every member that it has no value for is null. */
export const currentClient: FieldClient = {
  name: 'a current client',
  version: 'v3',
  headers: {
    'user-agent': 'openapi-sdk/3.0.4 python/3.11',
    accept: '*/*',
    'accept-encoding': 'gzip, deflate',
    connection: 'keep-alive',
    'content-type': 'application/json',
  },
  flag: String,
  encode: (value) => upperHex(encodeURIComponent(value)),
  serialise: (body) => JSON.stringify(body),
};

/**
 * One version behind: flags as its language prints them, `~` encoded and `*` not, and the escapes of its JSON encoder
 * left in the body.
 */
export const olderClient: FieldClient = {
  name: 'an older client',
  version: 'v2',
  headers: {
    'user-agent': 'Go-http-client/1.1',
    accept: 'application/json',
    'content-type': 'application/json; charset=utf-8',
  },
  flag: (value) => (value ? 'True' : 'False'),
  encode: (value) =>
    encodeURIComponent(value)
      .replaceAll('~', '%7E')
      .replace(/[!'()]/g, upperHex),
  serialise: (body) =>
    JSON.stringify(body).replace(
      /[<>&]/g,
      (character) => `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    ),
};

export interface FieldRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Server {
  readonly url: string;
  readonly credentials: { readonly appKey: string; readonly appSecret: string };
  /** What an existing client adds for this server. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FieldAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** One request as the client sends it to a server, with its own signature. */
export function sendAs(client: FieldClient, server: Server, request: FieldRequest): Promise<FieldAnswer> {
  const { method, path, query } = request;
  const search = Object.entries(query)
    .map(([name, value]) => `${client.encode(name)}=${client.encode(value)}`)
    .join('&');
  const body = request.body === undefined ? undefined : client.serialise(request.body);
  const { host, hostname, port } = new URL(server.url);
  const signing: Readonly<Record<string, string>> = {
    host,
    'x-app-key': server.credentials.appKey,
    'x-signature-algorithm': 'HMAC-SHA256',
    'x-signature-nonce': randomUUID(),
    'x-signature-version': '1.0',
    'x-timestamp': new Date().toISOString().replace(/\.\d+Z/, 'Z'),
  };
  const headers = {
    ...client.headers,
    ...request.headers,
    ...server.headers,
    ...signing,
    'x-version': client.version,
    'x-signature': signature({ path, query, body }, signing, server.credentials.appSecret),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    'accept-encoding': 'identity',
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: hostname, port, method, path: search ? `${path}?${search}` : path, agent: false, headers },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            contentType: incoming.headers['content-type'] ?? '',
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function signature(
  { path, query, body }: { path: string; query: Readonly<Record<string, string>>; body: string | undefined },
  signing: Readonly<Record<string, string>>,
  appSecret: string,
): string {
  const all: Readonly<Record<string, string>> = { ...query, ...signing };
  const names = Object.keys(all).sort();
  let text = `${path}&${names.map((name) => `${name}=${all[name]}`).join('&')}`;
  if (body) text += `&${createHash('sha256').update(body).digest('hex').toUpperCase()}`;
  return createHmac('sha256', `${appSecret}&`)
    .update(upperHex(encodeURIComponent(text)))
    .digest('base64');
}

/** A refusal as these clients read it: a flat map, of which they show code and message. */
export function readRefusal({ text }: FieldAnswer): { readonly code: string; readonly message: string } {
  const map = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const nested = Object.entries(map).find(([, value]) => typeof value === 'object');
  if (nested) throw new Error(`unknown server error: ${nested[0]} is nested`);
  const { error_code: code, message } = map;
  if (typeof code !== 'string' || typeof message !== 'string')
    throw new Error(`unknown server error: ${text}`);
  return { code, message };
}
