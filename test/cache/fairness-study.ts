/**
 * `npm run study -- fairness`: what a greedy reader leaves to a neighbour, over HTTP, on this machine. The greedy one
 * makes thirty reads a second that nobody made before, the neighbour one a second for a minute. The sources are
 * addresses of the loopback network: 127.0.0.2 has the greedy reader's prefix, 127.0.1.1 another one.
 */

import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { createUniverse } from '../../infra/simulator/market/universe.ts';

const apiKey = 'fairness';
const greedyAddress = '127.0.0.1';
const greedyEveryMs = 1000 / 30;
const neighbourEveryMs = 1000;

interface Case {
  readonly name: string;
  /** Of the neighbour; undefined when there is none. */
  readonly address?: string;
  /** By so many seconds the greedy reader is ahead. */
  readonly headStart: number;
  /** How many of the neighbour's sixty reads the gateway answers, and the smallest share of the limit that he has. */
  readonly least: number;
}

const cases: readonly Case[] = [
  { name: 'another prefix', address: '127.0.1.1', headStart: 0, least: 58 },
  { name: 'another prefix, 20 s later', address: '127.0.1.1', headStart: 20, least: 58 },
  { name: 'another prefix, 90 s later', address: '127.0.1.1', headStart: 90, least: 58 },
  { name: 'same prefix, another address', address: '127.0.0.2', headStart: 0, least: 50 },
  { name: 'same prefix, another address, 20 s later', address: '127.0.0.2', headStart: 20, least: 50 },
  { name: 'same address', address: greedyAddress, headStart: 0, least: 0 },
  { name: 'no neighbour', headStart: 0, least: 0 },
];

/**
 * @param args numbers of the cases; all without any
 * @param reads of the neighbour, one a second
 */
export async function studyFairness(args: readonly string[], reads = 60): Promise<boolean> {
  let isGood = true;
  for (const [index, one] of cases.entries())
    if (args.length === 0 || args.includes(String(index))) isGood = (await run(one, reads)) && isGood;
  return isGood;
}

async function run({ name, address, headStart, least: ofSixty }: Case, reads: number): Promise<boolean> {
  const least = Math.floor((ofSixty * reads) / 60);
  const local = await startLocalRun({
    port: 0,
    apiKey,
    openGroups: ['market-data'],
    credentials: { appKey: 'fairness-key', appSecret: 'fairness-secret' },
    upstream: { simulatorPort: 0 },
    plan: 'app',
  });
  const agent = new Agent();
  const targets = newReads();
  const ask = (localAddress: string) => statusOf(`${local.url}${targets.next().value}`, localAddress, agent);
  const seconds = headStart + (reads * neighbourEveryMs) / 1000;
  try {
    const greedy = every(greedyEveryMs, (seconds * 1000) / greedyEveryMs, () => ask(greedyAddress));
    await pause(headStart * 1000);
    const neighbour = address ? await every(neighbourEveryMs, reads, () => ask(address)) : [];
    const [his, others] = [counted(neighbour), counted(await greedy)];
    const isGood = (his[200] ?? 0) >= least;
    console.log(
      `${name}: the neighbour has ${JSON.stringify(his)}, at least ${least} wanted; ` +
        `the greedy reader ${JSON.stringify(others)} in ${seconds} s${isGood ? '' : '  TOO FEW'}`,
    );
    return isGood;
  } finally {
    agent.destroy();
    await local.close();
  }
}

/** Each is of footprints, a kind of bars, that no one before it asked for. */
function* newReads(): Generator<string, never> {
  const symbols = [...createUniverse(1).values()].filter(({ category }) => category === 'US_STOCK');
  for (let index = 0; ; index++) {
    const symbol = symbols[index % symbols.length]?.symbol;
    const count = 1 + Math.floor(index / symbols.length);
    yield `/market-data/stocks/footprints/list?symbols=${symbol}&category=US_STOCK&timespan=M5&count=${count}`;
  }
}

/** Evenly, whatever becomes of those before. */
async function every(ms: number, times: number, work: () => Promise<number>): Promise<number[]> {
  const started = performance.now();
  const all: Promise<number>[] = [];
  for (let index = 0; index < times; index++) {
    await pause(Math.max(0, started + index * ms - performance.now()));
    all.push(work());
  }
  return Promise.all(all);
}

function statusOf(url: string, localAddress: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent, localAddress, headers: { 'x-api-key': apiKey } }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    }).once('error', reject);
  });
}

function counted(statuses: readonly number[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
