/** Phones, many from cold or few for long: who is answered when, and how old the answers are. */

import { at } from '../../support/figures.ts';
import { createRandom } from '../../world/random.ts';
import { existingStocks, phones } from './load.ts';
import type { Run, Sample } from './plan.ts';
import { measure, type Settings } from './processes.ts';
import { byCode, conditions, inSeconds } from './report.ts';

export interface CrowdOptions {
  readonly clients: number;
  /** As many as there are, when there are not so many. */
  readonly symbols: number;
  readonly seconds: number;
  /** Of the local run: for one that knows something from the start, for example. */
  readonly settings?: Settings;
}

export interface CrowdFigures {
  readonly run: Run;
  /** How many symbols the clients ask for. */
  readonly inDemand: number;
  /** When the last request was sent that was not answered in full; undefined when there was none. */
  readonly lastNotFullMs: number | undefined;
  /** When the last answer came for which not all was there; 0 when there was none. */
  readonly heldFromMs: number;
  /** Of what was asked in each second of the run, the part that was answered in full. */
  readonly fullBySecond: readonly number[];
  /** The same, and within a second. */
  readonly soonBySecond: readonly number[];
}

export async function measureCrowd({
  clients,
  symbols,
  seconds,
  settings,
}: CrowdOptions): Promise<CrowdFigures> {
  const askings = phones(createRandom(7), { clients, symbols: existingStocks.slice(0, symbols), seconds });
  const run = await measure({ askings, seekings: [] }, settings);
  const { samples: all } = run;
  const named = askings.flatMap(({ targets }) =>
    targets
      .join()
      .replace(/^.*symbols=/, '')
      .split(','),
  );
  const notFull = all.filter(({ isFull }) => !isFull).map(({ dueMs }) => dueMs);
  return {
    run,
    inDemand: new Set(named).size,
    lastNotFullMs: notFull.length > 0 ? notFull.reduce((most, ms) => Math.max(most, ms), 0) : undefined,
    heldFromMs: all
      .filter(({ isMiss }) => isMiss)
      .reduce((last, { dueMs, lateMs, tookMs }) => Math.max(last, dueMs + lateMs + tookMs), 0),
    fullBySecond: bySecond(all, seconds, ({ isFull }) => isFull),
    soonBySecond: bySecond(all, seconds, ({ isFull, tookMs }) => isFull && tookMs <= 1000),
  };
}

function bySecond(
  all: readonly Sample[],
  seconds: number,
  is: (sample: Sample) => boolean,
): readonly number[] {
  return Array.from({ length: seconds }, (_, second) => {
    const within = all.filter(({ dueMs }) => Math.floor(dueMs / 1000) === second);
    return within.filter(is).length / within.length;
  });
}

const parts = (shares: readonly number[]) =>
  `${shares
    .slice(0, 10)
    .map((share) => (100 * share).toFixed(0))
    .join(' ')} %`;

/**
 * @param symbols that clients choose from
 * @param settings of the local run, to compare runs of different settings
 */
export async function studyCold(symbols: number, settings: Settings = {}): Promise<void> {
  const options = { clients: 2000, symbols, seconds: 60, settings };
  const { run, inDemand, lastNotFullMs, heldFromMs, fullBySecond, soonBySecond } =
    await measureCrowd(options);
  const { samples: all } = run;
  const short = existingStocks.length < symbols ? `, only ${existingStocks.length} exist` : '';
  const refused = all.filter(({ status }) => status !== 200);
  const lastRefusedMs = refused.reduce((most, { dueMs }) => Math.max(most, dueMs), 0);
  const waits = all.map(({ tookMs }) => tookMs);
  for (const line of [
    `${all.length} requests of ${options.clients} clients for ${inDemand} symbols${short} ${conditions(run)}`,
    `${refused.length} unavailable${refused.length > 0 ? `, the last one asked at ${inSeconds(lastRefusedMs)}` : ''} (${byCode(all)})`,
    lastNotFullMs === undefined
      ? 'every request is answered in full from the start'
      : `every request is answered in full that was asked after ${inSeconds(lastNotFullMs)} of ${options.seconds} s`,
    `every symbol in demand is held from ${inSeconds(heldFromMs)} on: then came the last answer that had to wait for the upstream`,
    `of what was asked in seconds 1 to 10 is answered in full ${parts(fullBySecond)}, within a second ${parts(soonBySecond)}`,
    `time to the answer p50/p99/max ${[0.5, 0.99, 1].map((share) => at(waits, share).toFixed(0)).join('/')} ms`,
  ])
    console.log(`cold-${symbols}: ${line}`);
}

export async function studySteady(): Promise<void> {
  const [seconds, fromSecond] = [90, 30];
  const { run, inDemand } = await measureCrowd({ clients: 100, symbols: 1000, seconds });
  const late = run.samples.filter(({ dueMs }) => dueMs >= 1000 * fromSecond);
  const ages = late.flatMap(({ ageSeconds }) => ageSeconds ?? []);
  console.log(
    `steady: age of the oldest of 20 records p50/p99/max ${[0.5, 0.99, 1].map((share) => at(ages, share)).join('/')} s in ${ages.length} answers after second ${fromSecond}, ${inDemand} symbols in demand (whole seconds, rounded up; ${byCode(late)}) ${conditions(run)}`,
  );
}
