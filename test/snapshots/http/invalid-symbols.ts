/** Somebody asks for symbols that do not exist; somebody else then asks for one that does and is new here. */

import { createRandom } from '../world/virtual-time.ts';
import { existingStocks, inventedSymbols, phones, snapshotsOf } from './load.ts';
import type { Asking, Caller, Run, Sample } from './plan.ts';
import { keys, measure } from './processes.ts';
import { byCode, conditions, inSeconds } from './report.ts';

const junkFrom: Caller = { key: keys.app, localAddress: '127.0.0.1' };

export const victims: Readonly<Record<string, Caller>> = {
  'other key': { key: keys.other, localAddress: '127.0.0.1' },
  'same key, other prefix': { key: keys.app, localAddress: '127.0.1.1' },
  'same key and prefix': { key: keys.app, localAddress: '127.0.0.2' },
  'same address': junkFrom,
};

export interface JunkOptions {
  readonly victim: Caller;
  /** How long phones asked before; they go on. 0: the process has just started, and nobody else asks. */
  readonly warmSeconds: number;
  readonly giveUpSeconds: number;
}

export interface JunkFigures {
  readonly junk: readonly Sample[];
  readonly sought: readonly Sample[];
  /** From the first request to the end of the full answer; undefined when there was none. */
  readonly servedAfterMs: number | undefined;
  readonly run: Run;
}

const wanted = 'AAPL';
const junkRequests = 2;
const perRequest = 100;
/** So that the junk is certainly there first, and not answered yet. */
const afterJunkMs = 100;

export async function measureInvalidSymbols({
  victim,
  warmSeconds,
  giveUpSeconds,
}: JunkOptions): Promise<JunkFigures> {
  const random = createRandom(11);
  const junkAtMs = 1000 * warmSeconds;
  const symbols = existingStocks.slice(0, 1000).filter((symbol) => symbol !== wanted);
  const seconds = warmSeconds + giveUpSeconds;
  const run = await measure({
    askings: [
      ...(warmSeconds > 0 ? phones(random, { clients: 100, symbols, seconds }) : []),
      ...junk(inventedSymbols(random, junkRequests * perRequest), junkAtMs),
    ],
    seekings: [
      {
        name: 'victim',
        ...victim,
        target: snapshotsOf([wanted]),
        firstMs: junkAtMs + afterJunkMs,
        pauseMs: 500,
        giveUpMs: 1000 * giveUpSeconds,
      },
    ],
  });
  const { samples } = run;
  const sought = samples.filter(({ name }) => name === 'victim');
  const served = sought.find(({ isFull }) => isFull);
  const servedAfterMs = served && served.dueMs + served.lateMs + served.tookMs - sought[0]!.dueMs;
  return { junk: samples.filter(({ name }) => name === 'junk'), sought, servedAfterMs, run };
}

const junk = (invented: readonly string[], firstMs: number): readonly Asking[] =>
  Array.from({ length: junkRequests }, (_, index) => ({
    name: 'junk',
    ...junkFrom,
    targets: [snapshotsOf(invented.slice(index * perRequest, (index + 1) * perRequest))],
    firstMs,
    everyMs: 0,
    times: 1,
  }));

export async function studyInvalidSymbols(): Promise<void> {
  const giveUpSeconds = 120;
  for (const [state, warmSeconds] of [
    ['cold', 0],
    ['warm', 70],
  ] as const)
    for (const [name, victim] of Object.entries(victims)) {
      const { junk, sought, servedAfterMs, run } = await measureInvalidSymbols({
        victim,
        warmSeconds,
        giveUpSeconds,
      });
      const served =
        servedAfterMs === undefined ? `not within ${giveUpSeconds} s` : `after ${inSeconds(servedAfterMs)}`;
      console.log(
        `junk, ${state}, ${name}: ${wanted} served ${served} (${byCode(sought)}; junk ${byCode(junk)}) ${conditions(run)}`,
      );
    }
}
