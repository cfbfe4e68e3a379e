/** One client asks for symbols that do not exist; another then asks for one that exists and is new here. */

import { createRandom } from '../../world/random.ts';
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
  /** How long phones asked before; they go on. 0: the process has just started, and no other client asks. */
  readonly warmSeconds: number;
  readonly giveUpSeconds: number;
}

export interface JunkFigures {
  readonly invalid: readonly Sample[];
  readonly sought: readonly Sample[];
  /** From the first request to the end of the full answer; undefined when there was none. */
  readonly servedAfterMs: number | undefined;
  readonly run: Run;
}

const soughtSymbol = 'AAPL';
const invalidRequests = 2;
const perRequest = 100;
/** So that the invalid symbols certainly arrive first, and are not answered yet. */
const afterJunkMs = 100;

export async function measureInvalidSymbols({
  victim,
  warmSeconds,
  giveUpSeconds,
}: JunkOptions): Promise<JunkFigures> {
  const random = createRandom(11);
  const invalidAtMs = 1000 * warmSeconds;
  const symbols = existingStocks.slice(0, 1000).filter((symbol) => symbol !== soughtSymbol);
  const seconds = warmSeconds + giveUpSeconds;
  const run = await measure({
    askings: [
      ...(warmSeconds > 0 ? phones(random, { clients: 100, symbols, seconds }) : []),
      ...askForInvalid(inventedSymbols(random, invalidRequests * perRequest), invalidAtMs),
    ],
    seekings: [
      {
        name: 'victim',
        ...victim,
        target: snapshotsOf([soughtSymbol]),
        firstMs: invalidAtMs + afterJunkMs,
        pauseMs: 500,
        giveUpMs: 1000 * giveUpSeconds,
      },
    ],
  });
  const { samples } = run;
  const sought = samples.filter(({ name }) => name === 'victim');
  const served = sought.find(({ isFull }) => isFull);
  const servedAfterMs = served && served.dueMs + served.lateMs + served.tookMs - sought[0]!.dueMs;
  return { invalid: samples.filter(({ name }) => name === 'invalid'), sought, servedAfterMs, run };
}

const askForInvalid = (invented: readonly string[], firstMs: number): readonly Asking[] =>
  Array.from({ length: invalidRequests }, (_, index) => ({
    name: 'invalid',
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
      const { invalid, sought, servedAfterMs, run } = await measureInvalidSymbols({
        victim,
        warmSeconds,
        giveUpSeconds,
      });
      const served =
        servedAfterMs === undefined ? `not within ${giveUpSeconds} s` : `after ${inSeconds(servedAfterMs)}`;
      console.log(
        `invalid symbols, ${state}, ${name}: ${soughtSymbol} served ${served} (${byCode(sought)}; invalid ${byCode(invalid)}) ${conditions(run)}`,
      );
    }
}
