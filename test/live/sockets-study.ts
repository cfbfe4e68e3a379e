/**
 * Streams over real sockets: one local run, another process for the upstream, and this one for all clients. What a stream
 * costs the process, and how long after the first client that hears of a record the others do.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { streamStockSnapshots } from '../../lib/catalogue/live.ts';
import { end, keys, startLocal } from '../snapshots/http/processes.ts';
import { quantiles } from '../snapshots/world/study.ts';
import { launcher } from '../support/process.ts';

const credentials = { APP_KEY: 'key-of-this-study', APP_SECRET: 'secret-of-this-study' };
const symbolsAStream = 20;
/** Ticks of Linux's clock a second, by which it counts the time of a process. */
const ticks = 100;

/** @param args streams (2,000), seconds (60), and the part of them that stall (0) */
export async function studySockets([
  count = '2000',
  time = '60',
  stalled = '0',
]: readonly string[]): Promise<boolean> {
  const upstream = spawn(process.execPath, [launcher, 'simulate'], {
    env: { ...process.env, ...credentials, UPSTREAM_PORT: '0', EVENTS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: upstream.stdout });
    const [first] = (await once(lines, 'line')) as [string];
    const baseUrl = /http:\/\/\S+/.exec(first)?.[0] ?? '';
    const local = await startLocal({ ...credentials, UPSTREAM_BASE_URL: baseUrl });
    try {
      console.log(await measured(local, Number(count), Number(time), Number(stalled)));
    } finally {
      await end(local.process);
    }
  } finally {
    await end(upstream);
  }
  return true;
}

type Local = Awaited<ReturnType<typeof startLocal>>;

async function measured({ url, process: { pid } }: Local, count: number, seconds: number, stalled: number) {
  const before = usageOf(pid);
  const symbols = await activeSymbols(url);
  const firsts = new Map<string, number>();
  const delays: number[] = [];
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const streams: IncomingMessage[] = [];
  let [events, isCounted] = [0, false];
  const take = (text: string) => {
    const now = performance.now();
    for (const [, symbol, at] of text.matchAll(/"symbol":"([^"]+)","at":(\d+),"set"/g)) {
      const first = firsts.get(`${symbol} ${at}`) ?? now;
      firsts.set(`${symbol} ${at}`, first);
      if (isCounted) delays.push(now - first);
    }
    events++;
  };
  for (let index = 0; index < count; index++) {
    const own = Array.from(
      { length: symbolsAStream },
      (_, at) => symbols[(index * 7 + at * at) % symbols.length],
    );
    const target = `${url}${streamStockSnapshots.path}?symbols=${[...new Set(own)].join()}&category=US_STOCK`;
    const [response] = (await once(
      get(target, { agent, headers: { 'x-api-key': keys.app } }),
      'response',
    )) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} for stream ${index}`);
    streams.push(response);
    if (index >= count * stalled) response.setEncoding('utf8').on('data', take);
  }
  await delay(5000);
  isCounted = true;
  const [begun, started, told] = [usageOf(pid), performance.now(), events];
  await delay(1000 * seconds);
  const [after, elapsed] = [usageOf(pid), (performance.now() - started) / 1000];
  for (const stream of streams) stream.destroy();
  const { p50, p99, max } = quantiles(delays);
  return [
    `${count} streams of ${symbolsAStream} of ${symbols.length} symbols, ${100 * stalled} % stalled, ${elapsed.toFixed(0)} s`,
    `processor ${((100 * (after.seconds - begun.seconds)) / elapsed).toFixed(0)} % of a core, ${((after.kilobytes - before.kilobytes) / count).toFixed(0)} kB a stream (${(begun.kilobytes / 1024).toFixed(0)} MB at the beginning, ${(after.kilobytes / 1024).toFixed(0)} at the end)`,
    `${((events - told) / elapsed / count).toFixed(1)} texts a second each; behind the first client p50/p99/max ${[p50, p99, max].map((ms) => ms.toFixed(0)).join('/')} ms`,
  ].join('\n  ');
}

async function activeSymbols(url: string): Promise<readonly string[]> {
  const query = 'category=US_STOCK&page_size=1000';
  const response = await fetch(`${url}/openapi/instrument/stock/list?${query}`, {
    headers: { 'x-api-key': keys.app },
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
