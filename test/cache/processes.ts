/**
 * Real processes that share snapshots, responses and a limiter in the DynamoDB engine, counted by the simulated
 * upstream, which refuses the 301st request of a minute. Run as a script, it takes seconds, processes, clients,
 * symbols, and from which second on ages count:
 *
 *     node --import tsx test/cache/processes.ts 120 4 400 1000 20
 */

import { fileURLToPath } from 'node:url';
import { startSimulator } from '../../infra/simulator/index.ts';
import { Upstream } from '../limiter/world/upstream.ts';
import { startMinistack } from '../support/ministack.ts';
import { resultOf } from '../support/process.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';
import { createTables } from './tables.ts';

export interface ProcessesOptions {
  readonly seconds: number;
  readonly processes: number;
  /** Of all processes together; each asks every five seconds. */
  readonly clients: number;
  readonly symbols: number;
  /** Ages count from this second on. Default 0: from the cold start. */
  readonly skip?: number;
}

interface Count {
  readonly statuses: Readonly<Record<string, number>>;
  readonly ages: readonly number[];
  readonly waits: readonly number[];
  readonly wrong: number;
}

export interface ProcessesResult {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Sorted, in milliseconds. */
  readonly ages: Float64Array;
  readonly waits: Float64Array;
  readonly wrong: number;
  /** The simulator's own count of outcomes. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The most arrivals at the upstream in any 60 s. */
  readonly worst: number;
}

const instance = 'test/cache/process-instance.ts';
const credentials = { appKey: 'processes-key', appSecret: 'processes-secret' };

export async function runProcesses(options: ProcessesOptions): Promise<ProcessesResult> {
  Object.assign(process.env, emulatorEnvironment);
  const emulator = await startMinistack();
  const simulator = await startSimulator(credentials);
  try {
    await createTables(emulator.endpoint);
    const env = {
      ...emulatorEnvironment,
      UPSTREAM: simulator.url,
      DYNAMODB: emulator.endpoint,
      SECRET: JSON.stringify({ app_key: credentials.appKey, app_secret: credentials.appSecret }),
      CLIENTS: String(Math.round(options.clients / options.processes)),
      SECONDS: String(options.seconds),
      SYMBOLS: String(options.symbols),
      SKIP: String(options.skip ?? 0),
    };
    const counts = await Promise.all(
      Array.from({ length: options.processes }, (_, index) =>
        resultOf<Count>(instance, { ...env, SEED: String(index + 1) }),
      ),
    );
    const upstream = new Upstream();
    for (const { time } of simulator.received) upstream.arrive(time);
    const statuses: Record<string, number> = {};
    for (const count of counts)
      for (const [status, times] of Object.entries(count.statuses))
        statuses[status] = (statuses[status] ?? 0) + times;
    return {
      requests: Object.values(statuses).reduce((total, times) => total + times, 0),
      statuses,
      ages: Float64Array.from(counts.flatMap(({ ages }) => ages)).sort(),
      waits: Float64Array.from(counts.flatMap(({ waits }) => waits)).sort(),
      wrong: counts.reduce((total, { wrong }) => total + wrong, 0),
      outcomes: { ...simulator.counts },
      worst: upstream.worstWindow(),
    };
  } finally {
    await simulator.close();
    await emulator.stop();
  }
}

/** In words, for the person who ran it. */
export function summary(result: ProcessesResult): string {
  const of = (sorted: Float64Array) =>
    [0.5, 0.99, 1]
      .map((part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN)
      .map((ms) => (ms / 1000).toFixed(2))
      .join('/');
  return [
    `${result.requests} requests ${JSON.stringify(result.statuses)}, ${result.wrong} wrong`,
    `age p50/p99/max ${of(result.ages)} s, wait ${of(result.waits)} s`,
    `upstream ${JSON.stringify(result.outcomes)}, ${result.worst} in the worst minute`,
  ].join('; ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [seconds = 120, processes = 4, clients = 400, symbols = 1000, skip = 0] = process.argv
    .slice(2)
    .map(Number);
  const result = await runProcesses({ seconds, processes, clients, symbols, skip });
  console.log(summary(result));
  process.exitCode = result.outcomes.TOO_MANY_REQUESTS === undefined && result.worst <= 300 ? 0 : 1;
}
