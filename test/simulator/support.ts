/** Signing and sending for the simulator's tests. Kept apart from every other signing code on purpose. */

import { createHash, createHmac, randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';

export const credentials = { appKey: 'test-app-key', appSecret: 'test-app-secret' };

/** 2026-11-17T09:30:00Z, the clock of most tests. */
export const testTime = Date.UTC(2026, 10, 17, 9, 30);

export const snapshotPath = '/openapi/market-data/stock/snapshot';
export const snapshotQuery = 'symbols=AAPL&category=US_STOCK';
export const snapshotTarget = `${snapshotPath}?${snapshotQuery}`;

export interface Draft {
  readonly method?: string;
  /** Sent as it is. */
  readonly target: string;
  /** The pairs that are signed; taken from the target when absent. */
  readonly pairs?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly host?: string;
  readonly now?: number;
  readonly nonce?: string;
  readonly appKey?: string;
  readonly appSecret?: string;
  /** Replaces signed headers after signing; undefined leaves one out. */
  readonly change?: Readonly<Record<string, string | undefined>>;
  /** Replaces headers before signing. */
  readonly sign?: Readonly<Record<string, string>>;
}

/** The complete headers of a draft. */
export function headersFor(draft: Draft): Record<string, string> {
  const [path, search = ''] = draft.target.split(/\?(.*)/s) as [string, string?];
  const signing: Record<string, string> = {
    host: draft.host ?? 'sim.test',
    'x-app-key': draft.appKey ?? credentials.appKey,
    'x-signature-algorithm': 'HMAC-SHA256',
    'x-signature-nonce': draft.nonce ?? randomUUID(),
    'x-signature-version': '1.0',
    'x-timestamp': new Date(draft.now ?? testTime).toISOString().replace(/\.\d+Z/, 'Z'),
    ...draft.sign,
  };
  const all = [...(draft.pairs ?? new URLSearchParams(search)), ...Object.entries(signing)];
  const names = [...new Set(all.map(([name]) => name))].sort();
  const parts = names.map((name) => {
    const values = all.filter((pair) => pair[0] === name).map((pair) => pair[1]);
    return `${name}=${values.sort().join('&')}`;
  });
  let plain = `${path}&${parts.join('&')}`;
  if (draft.body) plain += `&${createHash('sha256').update(draft.body).digest('hex').toUpperCase()}`;
  const encoded = encodeURIComponent(plain).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const signature = createHmac('sha256', `${draft.appSecret ?? credentials.appSecret}&`).update(encoded);
  const headers: Record<string, string | undefined> = {
    ...signing,
    'x-signature': signature.digest('base64'),
    'x-version': 'v3',
    ...(draft.method === 'POST' && { 'content-type': 'application/json' }),
    ...draft.change,
  };
  const kept = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(kept);
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is not. */
  readonly json: unknown;
}

/** Signs a draft and sends it over a connection of its own, which ends when the caller gives up. */
export function send(simulator: Simulator, draft: Draft, giveUp?: Promise<unknown>): Promise<Reply> {
  const { port } = simulator;
  const options = {
    port,
    host: '127.0.0.1',
    path: draft.target,
    method: draft.method ?? 'GET',
    agent: false,
  };
  const headers = headersFor(draft);
  // Without it the client would send the body of a GET with no length at all.
  if (draft.body) headers['content-length'] = String(Buffer.byteLength(draft.body));
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ ...options, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: parse(text) });
      });
    });
    outgoing.on('error', reject);
    void giveUp?.then(() => outgoing.destroy(new Error('no answer')));
    outgoing.end(draft.body);
  });
}

/** Sends bytes that no HTTP client would, and gives status and body of the answer. */
export function sendRaw(simulator: Simulator, head: readonly string[], body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(simulator.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('error', reject);
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.on('close', () => {
      const end = text.indexOf('\r\n\r\n') + 4;
      const status = Number(text.slice(9, 12));
      resolve({ status, headers: {}, text: text.slice(end), json: parse(text.slice(end)) });
    });
    socket.write(`${[...head, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);
  });
}

/** Header lines of a draft, for `sendRaw`. */
export function linesFor(draft: Draft): string[] {
  return Object.entries(headersFor(draft)).map(([name, value]) => `${name}: ${value}`);
}

/** Runs `use` with a simulator whose clock stands at `testTime`, unless told otherwise. */
export async function withSimulator(
  options: Partial<SimulatorOptions>,
  use: (simulator: Simulator) => Promise<void>,
): Promise<void> {
  const simulator = await startSimulator({ ...credentials, clock: () => testTime, ...options });
  try {
    await use(simulator);
  } finally {
    await simulator.close();
  }
}

/** The error code of a refusal. */
export function codeOf(reply: Reply): unknown {
  return (reply.json as { error_code?: unknown } | undefined)?.error_code;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
