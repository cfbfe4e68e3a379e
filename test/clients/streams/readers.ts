/** Those who read streams of the local run, and what each was told. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { streamOrderEvents, streamStockSnapshots } from '../../../lib/catalogue/live.ts';
import { Quotes } from '../../../lib/client/followed.ts';
import { follow, viaGateway } from '../../../lib/client/index.ts';
import { serverSentEvents } from '../../../lib/client/server-sent.ts';
import { noChromium, openBrowser } from '../../support/chromium.ts';
import type { Command } from '../generator.ts';
import { firstMissing, npmInstall, onPath } from '../installs.ts';
import { environmentWith, exitOf, folderOf } from '../trial.ts';
import { apiKey } from '../upstreams.ts';

/** Those of the examples. */
export const symbols = ['AAPL', 'MSFT', 'NVDA'];
const query = { symbols, category: 'US_STOCK' } as const;

/** What a reader was told. */
export class Told {
  /** The records that it shows. */
  readonly quotes = new Map<string, unknown>();
  /** How often each order event came, by its id. */
  readonly orders = new Map<string, number>();
  changes = 0;
  /** Whether its stream of order events has begun. */
  hasBegun = false;

  put(symbol: string, record: unknown): void {
    this.changes++;
    if (record === undefined) this.quotes.delete(symbol);
    else this.quotes.set(symbol, record);
  }

  order(id: string): void {
    this.orders.set(id, (this.orders.get(id) ?? 0) + 1);
  }

  /** A line as the examples print it. */
  line(line: string): void {
    const [, word, name = '', rest = ''] = /^(\w+) (\S+) (.*)$/.exec(line) ?? [];
    if (word === 'quote') this.put(name, rest === '-' ? undefined : JSON.parse(rest));
    if (word === 'order') this.order(name);
    if (word === 'orders') this.hasBegun = true;
  }
}

export interface Urls {
  readonly GATEWAY_URL: string;
  readonly ISSUER_URL: string;
}

export interface StreamReader {
  readonly name: string;
  /** A folder of docs/examples, and the lines by which its page says to compile and to run it. */
  readonly example?: string;
  readonly compile?: readonly Command[];
  readonly run?: Command;
  readonly missing: () => string | undefined;
  /** The typed client has no method for order events. */
  readonly hasOrders: boolean;
  /** Reads until the signal aborts. @throws Error when its reader ends before */
  read(told: Told, urls: Urls, signal: AbortSignal): Promise<void>;
  /** What is done once before anything is read. */
  prepare?(): Promise<void>;
}

/** A command that prints lines until it is killed. */
async function linesOf(line: Command, folder: string, told: Told, urls: Urls, signal: AbortSignal) {
  const env = environmentWith({ ...urls, API_KEY: apiKey });
  // With what the shell starts, which would go on without it.
  const child = spawn('sh', ['-c', `exec ${line}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  signal.addEventListener('abort', () => child.kill());
  for await (const text of createInterface({ input: child.stdout })) told.line(text);
  await ended(child);
  if (!signal.aborted) throw new Error(`${line} has ended`);
}

const ended = async (child: ChildProcess) => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

/** A program of docs/examples. */
function exampleOf(about: Pick<StreamReader, 'name' | 'missing'> & Program): StreamReader {
  const { example, compile, run } = about;
  let folder = '';
  return {
    ...about,
    hasOrders: true,
    async prepare() {
      folder = folderOf({ name: about.name, example });
      for (const line of compile) {
        const { ok, said } = await exitOf(line, folder, {});
        if (!ok) throw new Error(said);
      }
    },
    read: (told, urls, signal) => linesOf(run, folder, told, urls, signal),
  };
}

interface Program {
  readonly example: string;
  readonly compile: readonly Command[];
  readonly run: Command;
}

const typescript = { example: 'typescript-streams', compile: ['npx tsc'], run: 'node dist/main.js' };
const noParser = () => firstMissing(npmInstall('typescript'), npmInstall('eventsource-parser'));

/** The same program in a page: what it prints is taken from the console. */
const chromium: StreamReader = {
  name: 'Chromium',
  hasOrders: true,
  missing: () => firstMissing(noChromium, noParser()),
  async read(told, urls, signal) {
    const { outputFiles } = await build({
      entryPoints: [`${folderOf({ name: 'Chromium', example: typescript.example })}/main.ts`],
      define: { 'process.env': JSON.stringify({ ...urls, API_KEY: apiKey }) },
      bundle: true,
      format: 'esm',
      write: false,
    });
    const script = `const lines = (globalThis.lines = []); console.log = (line) => lines.push(line); ${outputFiles[0]?.text}`;
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><title>app</title><script type="module">${script}</script>`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const page = await openBrowser();
    try {
      await page.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      while (!signal.aborted) {
        for (const line of await page.evaluate<string[]>('lines.splice(0)')) told.line(line);
        await delay(200);
      }
    } finally {
      await page.close();
      server.close();
    }
  },
};

const typedClient: StreamReader = {
  name: 'follow',
  hasOrders: false,
  missing: () => undefined,
  async read(told, { GATEWAY_URL }, signal) {
    const connection = viaGateway({ baseUrl: GATEWAY_URL, apiKey });
    for await (const { quotes, changed } of follow(streamStockSnapshots, connection, query, { signal }))
      for (const symbol of changed) told.put(symbol, quotes.get(symbol)?.record);
  },
};

/** It does not come back by itself, so that its user does. */
const curl: StreamReader = {
  name: 'curl',
  hasOrders: true,
  missing: () => onPath('curl'),
  async read(told, { GATEWAY_URL, ISSUER_URL }, signal) {
    setMaxListeners(0, signal);
    const streamed = async function* (path: string, headers: readonly string[]) {
      // A connection on which nothing comes for so many seconds is dead.
      const args = ['-sN', '--speed-limit', '1', '--speed-time', '12'];
      const all = [`x-api-key: ${apiKey}`, ...headers].flatMap((header) => ['-H', header]);
      const child = spawn('curl', [...args, ...all, `${GATEWAY_URL}${path}`]);
      signal.addEventListener('abort', () => child.kill());
      yield* serverSentEvents(child.stdout);
      await ended(child);
    };
    const again = async (connect: () => Promise<void>) => {
      for (; !signal.aborted; await delay(500)) await connect();
    };
    const quotes = new Quotes(Date.now);
    let lastId = '';
    await Promise.all([
      again(async () => {
        for await (const event of streamed(
          `${streamStockSnapshots.path}?symbols=${symbols}&category=US_STOCK`,
          [],
        ))
          for (const symbol of quotes.take(event).changed)
            told.put(symbol, quotes.bySymbol.get(symbol)?.record);
      }),
      again(async () => {
        const body = new URLSearchParams({ grant_type: 'password', username: 'ada' });
        // A connection that is kept may be one that was cut silently.
        const init = {
          method: 'POST',
          body,
          headers: { accept: 'text/plain' },
          signal: AbortSignal.timeout(5000),
        };
        const issued = await fetch(`${ISSUER_URL}/token`, init).catch(() => undefined);
        const token = `authorization: Bearer ${await issued?.text()}`;
        const last = lastId ? [`last-event-id: ${lastId}`] : [];
        for await (const { event, id, data } of streamed(streamOrderEvents.path, [token, ...last])) {
          lastId = id;
          if (event === 'start') told.hasBegun = true;
          if (event === 'change') told.order(JSON.parse(data).detail.event_id);
        }
      }),
    ]);
  },
};

export const readers: readonly StreamReader[] = [
  curl,
  typedClient,
  chromium,
  exampleOf({ name: 'eventsource-parser', missing: noParser, ...typescript }),
  exampleOf({
    name: 'okhttp-sse',
    missing: () => firstMissing(onPath('java'), onPath('mvn')),
    example: 'kotlin-streams',
    compile: ['mvn -q compile'],
    run: "java -cp 'target/classes:target/lib/*' MainKt",
  }),
];
