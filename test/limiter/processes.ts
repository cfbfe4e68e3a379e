/**
 * Real processes that share a limit in the DynamoDB engine, counted by the simulated upstream, which
 * refuses the 301st request of a minute. Run as a script, it takes seconds, processes, requests a minute and
 * the part of the engine's answers, in percent, that say that the table is throttled:
 *
 *     node --import tsx test/limiter/processes.ts 120 8 600 50
 */

import { fileURLToPath } from 'node:url';
import { startSimulator } from '../../infra/simulator/index.ts';
import { each } from '../support/each.ts';
import { startMinistack } from '../support/ministack.ts';
import { resultOf } from '../support/process.ts';
import { createLimiterTable, emulatorEnvironment } from '../world/dynamo.ts';
import { startThrottlingProxy } from './throttling-proxy.ts';
import { Upstream } from './world/upstream.ts';

export interface ProcessesOptions {
  readonly seconds: number;
  readonly processes: number;
  /** Requests a minute, of all together. */
  readonly perMinute: number;
  /** The part of the engine's answers, from 0 to 1, that are throttled. Default 0. */
  readonly throttled?: number;
}

export interface Count {
  readonly asked: number;
  readonly sent: number;
  readonly refused: number;
  readonly expired: number;
  /** Operations that were throttled, or lost every race. */
  readonly busy: number;
  readonly failed: number;
  readonly statuses: Readonly<Record<string, number>>;
}

export interface ProcessesResult {
  readonly counts: readonly Count[];
  /** The simulator's own count of outcomes. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly worst: number;
  /** The used part of the upstream's limit, from the first arrival to the last, with the idle start. */
  readonly overall: number;
  /** The same in the last whole minute but two seconds; even when the run takes two minutes or more. */
  readonly lastMinute: number;
}

const instance = 'test/limiter/process-instance.ts';
const credentials = { appKey: 'processes-key', appSecret: 'processes-secret' };
const tableName = 'limiter';

export async function runProcesses({
  seconds,
  processes,
  perMinute,
  throttled = 0,
}: ProcessesOptions): Promise<ProcessesResult> {
  Object.assign(process.env, emulatorEnvironment);
  const emulator = await startMinistack();
  const simulator = await startSimulator(credentials);
  const proxy = throttled > 0 ? await startThrottlingProxy(emulator.endpoint, throttled) : undefined;
  try {
    await createLimiterTable(emulator.endpoint, tableName);
    const env = {
      ...emulatorEnvironment,
      UPSTREAM: simulator.url,
      DYNAMODB: proxy?.endpoint ?? emulator.endpoint,
      TABLE: tableName,
      APP_KEY: credentials.appKey,
      APP_SECRET: credentials.appSecret,
      PER_MINUTE: String(perMinute / processes),
      SECONDS: String(seconds),
    };
    const counts = await Promise.all(
      Array.from({ length: processes }, (_, index) =>
        // Clocks from one end of the assumed offset to the other.
        resultOf<Count>(instance, {
          ...env,
          OFFSET_MS: String(Math.round(1000 * (index / (processes - 1) - 0.5))),
        }),
      ),
    );
    const upstream = new Upstream(each(simulator.received, 'time'));
    const { arrivals } = upstream;
    const [first = 0, last = 0] = [arrivals[0], arrivals.at(-1)];
    const end = last - 2000;
    return {
      counts,
      outcomes: { ...simulator.counts },
      worst: upstream.worstWindow(),
      overall: arrivals.length / ((last - first) / 200),
      lastMinute: upstream.between(end - 60_000, end) / 300,
    };
  } finally {
    await proxy?.close();
    await simulator.close();
    await emulator.stop();
  }
}

/** In words, for the console. */
export function summary({ counts, outcomes, worst, overall, lastMinute }: ProcessesResult): string {
  const sum = (of: (count: Count) => number) => counts.reduce((total, count) => total + of(count), 0);
  return [
    `${counts.length} processes on the DynamoDB engine: ${sum((count) => count.sent)} sent of ${sum((count) => count.asked)} asked, upstream ${JSON.stringify(outcomes)}`,
    `worst window ${worst}, ${(100 * overall).toFixed(1)} % used, ${(100 * lastMinute).toFixed(1)} % in the last minute`,
    `${sum((count) => count.expired)} permits expired, ${sum((count) => count.busy)} throttled and ${sum((count) => count.failed)} failed operations`,
  ].join('; ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [seconds = 120, processes = 8, perMinute = 600, percent = 0] = process.argv.slice(2).map(Number);
  const result = await runProcesses({ seconds, processes, perMinute, throttled: percent / 100 });
  console.log(summary(result));
  process.exitCode = result.outcomes.TOO_MANY_REQUESTS === undefined && result.worst <= 300 ? 0 : 1;
}
