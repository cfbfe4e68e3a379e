/** Phones, many from cold or few for long: who is answered when, and how old the answers are. */

import { at } from '../../bench/figures.ts';
import { createRandom } from '../world/virtual-time.ts';
import { existingStocks, phones } from './load.ts';
import type { Sample } from './plan.ts';
import { measure, type Settings } from './processes.ts';
import { byCode, conditions, inSeconds } from './told.ts';

export interface CrowdOptions {
  readonly clients: number;
  /** As many as there are, when there are not so many. */
  readonly symbols: number;
  readonly seconds: number;
  /** Of the local run: for one that knows something from the start, for example. */
  readonly settings?: Settings;
}

export interface CrowdFigures {
  readonly all: readonly Sample[];
  /** Symbols that somebody asks for. */
  readonly inDemand: number;
  /** When the last request was sent that was not answered in full; undefined when there was none. */
  readonly lastNotFullMs: number | undefined;
  /** By second of the run, the part that was answered in full. */
  readonly fullBySecond: readonly number[];
}

export async function measureCrowd({
  clients,
  symbols,
  seconds,
  settings,
}: CrowdOptions): Promise<CrowdFigures> {
  const askings = phones(createRandom(7), { clients, symbols: existingStocks.slice(0, symbols), seconds });
  const all = await measure({ askings, seekings: [] }, settings);
  const named = askings.flatMap(({ targets }) =>
    targets
      .join()
      .replace(/^.*symbols=/, '')
      .split(','),
  );
  const notFull = all.filter(({ isFull }) => !isFull).map(({ dueMs }) => dueMs);
  return {
    all,
    inDemand: new Set(named).size,
    lastNotFullMs: notFull.length > 0 ? notFull.reduce((most, ms) => Math.max(most, ms), 0) : undefined,
    fullBySecond: Array.from({ length: seconds }, (_, second) => {
      const within = all.filter(({ dueMs }) => Math.floor(dueMs / 1000) === second);
      return within.filter(({ isFull }) => isFull).length / within.length;
    }),
  };
}

/**
 * @param symbols that clients choose from
 * @param settings of the local run, to compare with one that is told something before the crowd comes
 */
export async function studyCold(symbols: number, settings: Settings = {}): Promise<void> {
  const options = { clients: 2000, symbols, seconds: 60, settings };
  const { all, inDemand, lastNotFullMs, fullBySecond } = await measureCrowd(options);
  const short = existingStocks.length < symbols ? `, only ${existingStocks.length} exist` : '';
  const refused = all.filter(({ status }) => status !== 200);
  const lastRefusedMs = refused.reduce((most, { dueMs }) => Math.max(most, dueMs), 0);
  const took = all.map(({ tookMs }) => tookMs);
  for (const line of [
    `${all.length} requests of ${options.clients} clients for ${inDemand} symbols${short} ${conditions(all)}`,
    `${refused.length} unavailable${refused.length > 0 ? `, the last one asked at ${inSeconds(lastRefusedMs)}` : ''} (${byCode(all)})`,
    lastNotFullMs === undefined
      ? 'every request is answered in full from the start'
      : `every request is answered in full that was asked after ${inSeconds(lastNotFullMs)} of ${options.seconds} s`,
    `answered in full in seconds 1 to 10: ${fullBySecond
      .slice(0, 10)
      .map((part) => (100 * part).toFixed(0))
      .join(' ')} %`,
    `time to the answer p50/p99 ${at(took, 0.5).toFixed(0)}/${at(took, 0.99).toFixed(0)} ms`,
  ])
    console.log(`cold-${symbols}: ${line}`);
}

export async function studySteady(): Promise<void> {
  const [seconds, fromSecond] = [90, 30];
  const { all, inDemand } = await measureCrowd({ clients: 100, symbols: 1000, seconds });
  const late = all.filter(({ dueMs }) => dueMs >= 1000 * fromSecond);
  const ages = late.flatMap(({ ageSeconds }) => ageSeconds ?? []);
  console.log(
    `steady: age of the oldest of 20 records p50/p99/max ${[0.5, 0.99, 1].map((share) => at(ages, share)).join('/')} s in ${ages.length} answers after second ${fromSecond}, ${inDemand} symbols in demand (whole seconds, rounded up; ${byCode(late)}) ${conditions(late)}`,
  );
}
