/**
 * Streams over real sockets: one local run, another process for the upstream, and this one for all clients. What a stream
 * costs the process, and how long after the first client that hears of a record the others do.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { streamStockSnapshots } from '../../lib/catalogue/live.ts';
import { type Ages, Histogram, quantiles } from '../snapshots/world/study.ts';
import { freePorts } from '../support/free-ports.ts';
import { launcher } from '../support/process.ts';

const apiKey = 'key-of-the-app';
const credentials = { APP_KEY: 'key-of-this-study', APP_SECRET: 'secret-of-this-study' };
/** The most that the local run lets a caller have. */
const streamsOfCaller = 100;
/** Ticks of Linux's clock a second, by which it counts the time of a process. */
const ticks = 100;

/**
 * @param args streams (2,000), seconds (60), the part of them that stall in the second half (0.1), and the symbols of each (20)
 * @returns whether records came in both halves, and no stream ended while all clients read
 */
export async function studySockets([
  count = '2000',
  time = '60',
  stalled = '0.1',
  symbolsEach = '20',
]: readonly string[]): Promise<boolean> {
  const upstream = spawn(process.execPath, [launcher, 'simulate'], {
    env: { ...process.env, ...credentials, ...freePorts, MARKET_STREAM: 'off' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: upstream.stdout });
    const [first] = (await once(lines, 'line')) as [string];
    const baseUrl = /http:\/\/\S+/.exec(first)?.[0] ?? '';
    const others = Array.from({ length: Math.ceil(Number(count) / streamsOfCaller) }, (_, at) => `key-${at}`);
    const local = await startLocal({
      ...credentials,
      UPSTREAM_BASE_URL: baseUrl,
      OTHER_API_KEYS: others.join(),
    });
    try {
      const { told, isGood } = await measured(local, {
        count: Number(count),
        seconds: Number(time),
        stalled: Number(stalled),
        each: Number(symbolsEach),
      });
      console.log(told);
      return isGood;
    } finally {
      await end(local.process);
    }
  } finally {
    await end(upstream);
  }
}

type Local = Awaited<ReturnType<typeof startLocal>>;

interface Load {
  readonly count: number;
  readonly seconds: number;
  readonly stalled: number;
  readonly each: number;
}

/** Opened, and opened again when all have ended at once; then for half of the time all read, and for the other half not all. */
async function measured({ url, process: { pid } }: Local, load: Load) {
  const { count, seconds, stalled, each } = load;
  const symbols = await activeSymbols(url);
  const before = usageOf(pid);
  const clients = new Clients(url, symbols, load);
  const first = await clients.openAll();
  clients.endAll();
  await delay(3000);
  const again = await clients.openAll();
  await delay(5000);
  const lines = [
    `${count} streams of ${each} of ${symbols.length} symbols; all begin within 2 s: first event after p50/p99/max ${inMs(first)} ms, and again after all had ended ${inMs(again)} ms; ${clients.refused} refused before`,
  ];
  let isGood = true;
  for (const part of [0, stalled]) {
    clients.stall(part);
    const [begun, started, { events }] = [usageOf(pid), performance.now(), clients];
    const delays = clients.countDelays();
    await delay((1000 * seconds) / 2);
    isGood &&= clients.events > events && (part > 0 || clients.cutOff === 0);
    const [after, elapsed] = [usageOf(pid), (performance.now() - started) / 1000];
    lines.push(
      `${elapsed.toFixed(0)} s, ${100 * part} % stalled: processor ${((100 * (after.seconds - begun.seconds)) / elapsed).toFixed(0)} % of a core, ${((after.kilobytes - before.kilobytes) / count).toFixed(0)} kB a stream (${[before, begun, after].map(({ kilobytes }) => (kilobytes / 1024).toFixed(0)).join(', ')} MB before all, at the beginning and at the end), ${((clients.events - events) / elapsed / count).toFixed(1)} texts a second each, behind the first client p50/p99/max ${inMs(delays.quantiles())} ms, ${clients.cutOff} cut off`,
    );
  }
  clients.endAll();
  return { told: lines.join('\n  '), isGood };
}

class Clients {
  events = 0;
  /** By the plan of its key, or by the kernel while the process accepts too slowly; and tried again. */
  refused = 0;
  /** How many of those that stalled were cut off, and came back. */
  cutOff = 0;
  readonly #url: string;
  readonly #symbols: readonly string[];
  readonly #load: Load;
  readonly #agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  readonly #streams = new Map<number, IncomingMessage>();
  readonly #firsts = new Map<string, number>();
  #delays = new Histogram();
  #stalled = 0;

  constructor(url: string, symbols: readonly string[], load: Load) {
    this.#url = url;
    this.#symbols = symbols;
    this.#load = load;
  }

  /** @returns how long each waited for its first event, in milliseconds */
  async openAll(): Promise<Ages> {
    const waits = Array.from({ length: this.#load.count }, async (_, index) => {
      await delay(2000 * Math.random());
      return this.#open(index);
    });
    return quantiles(await Promise.all(waits));
  }

  endAll(): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.destroy();
  }

  /** This part of the clients takes nothing from now on. */
  stall(part: number): void {
    this.#stalled = part * this.#load.count;
    for (const [index, stream] of this.#streams) if (index < this.#stalled) stream.pause();
  }

  /** From now on. */
  countDelays(): Histogram {
    this.#delays = new Histogram();
    return this.#delays;
  }

  /** @returns how long it waited since it was accepted */
  async #open(index: number): Promise<number> {
    const { each } = this.#load;
    const own = Array.from(
      { length: each },
      (_, at) => this.#symbols[(index * 7 + at * at) % this.#symbols.length],
    );
    const target = `${this.#url}${streamStockSnapshots.path}?symbols=${[...new Set(own)]}&category=US_STOCK`;
    const headers = { 'x-api-key': `key-${Math.floor(index / streamsOfCaller)}` };
    const begun = performance.now();
    const sent = get(target, { agent: this.#agent, headers });
    // Later errors come with the end of the response.
    sent.on('error', () => {});
    const [response] = (await once(sent, 'response').catch(() => [undefined])) as [IncomingMessage?];
    if (!response || response.statusCode === 429) {
      this.refused++;
      response?.resume();
      await delay(1000 + 1000 * Math.random());
      return this.#open(index);
    }
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} for stream ${index}`);
    this.#streams.set(index, response);
    response.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    response.on('error', () => {});
    response.on('close', () => {
      if (this.#streams.get(index) !== response) return;
      this.cutOff++;
      // Where the local run has ended, the study has failed already.
      this.#open(index).catch(() => {});
    });
    await once(response, 'data');
    if (index < this.#stalled) response.pause();
    return performance.now() - begun;
  }

  #take(text: string): void {
    const now = performance.now();
    for (const [, symbol, at] of text.matchAll(/"symbol":"([^"]+)","at":(\d+),"set"/g)) {
      const first = this.#firsts.get(`${symbol} ${at}`) ?? now;
      this.#firsts.set(`${symbol} ${at}`, first);
      this.#delays.add(now - first);
    }
    this.events++;
  }
}

const inMs = ({ p50, p99, max }: Ages) => [p50, p99, max].map((ms) => ms.toFixed(0)).join('/');

async function activeSymbols(url: string): Promise<readonly string[]> {
  const query = 'category=US_STOCK&page_size=1000';
  const response = await fetch(`${url}/openapi/instrument/stock/list?${query}`, {
    headers: { 'x-api-key': apiKey },
  });
  const listed = (await response.json()) as
    | readonly { readonly symbol: string }[]
    | { readonly data: readonly { readonly symbol: string }[] };
  return ('data' in listed ? listed.data : listed).map(({ symbol }) => symbol).slice(0, 1000);
}

/** On Linux only. */
function usageOf(pid: number | undefined): { readonly seconds: number; readonly kilobytes: number } {
  const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, 'x x ')
    .split(' ');
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { seconds: (Number(fields[11]) + Number(fields[12])) / ticks, kilobytes: Number(resident) };
}

/** The environment is passed on, so that any setting of the local run can be studied. */
async function startLocal(
  settings: NodeJS.ProcessEnv,
): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const child = spawn(process.execPath, [launcher, 'start'], {
    env: {
      ...process.env,
      ...freePorts,
      API_KEY: apiKey,
      // Room for the load: what is studied is the upstream's limit, not the plan.
      PLAN: 'app',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Read to the end, though only the first lines count: a full pipe would stop the local run.
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise<string>((resolve) => {
    let url = '';
    lines.on('line', (line) => {
      url ||= /^Countersign on (\S+)$/.exec(line)?.[1] ?? '';
      if (line === 'Ctrl-C ends it.') resolve(url);
    });
  });
  return { url: await Promise.race([ready, failOnExit(child)]), process: child };
}

async function failOnExit(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`${child.spawnfile} ${child.spawnargs.at(-1)} ended with ${code} in the middle`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
