/** One reader takes all that the upstream gives and more; a neighbour behind the same key reads a little. */

import { uniqueReads } from './load.ts';
import type { Run, Sample } from './plan.ts';
import { keys, measure } from './processes.ts';
import { byCode, conditions } from './report.ts';

const greedyFrom = '127.0.0.1';

const neighbours: Readonly<Record<string, string>> = {
  'other prefix': '127.0.1.1',
  'same prefix': '127.0.0.2',
  'same address': greedyFrom,
};

export interface GreedyOptions {
  readonly neighbour: string;
  readonly greedyPerSecond: number;
  /** How long the greedy one reads before the neighbour comes, beside it and after it. */
  readonly seconds: { readonly before: number; readonly beside: number; readonly after: number };
}

export interface GreedyFigures {
  readonly neighbour: readonly Sample[];
  readonly greedy: readonly Sample[];
  readonly run: Run;
}

export async function measureGreedy(options: GreedyOptions): Promise<GreedyFigures> {
  const { neighbour, greedyPerSecond, seconds } = options;
  const { before, beside, after } = seconds;
  const greedyReads = greedyPerSecond * (before + beside + after);
  const reads = uniqueReads(greedyReads + beside);
  const run = await measure({
    askings: [
      {
        name: 'greedy',
        key: keys.app,
        localAddress: greedyFrom,
        targets: reads.slice(0, greedyReads),
        firstMs: 0,
        everyMs: 1000 / greedyPerSecond,
        times: greedyReads,
      },
      {
        name: 'neighbour',
        key: keys.app,
        localAddress: neighbour,
        targets: reads.slice(greedyReads),
        firstMs: 1000 * before,
        everyMs: 1000,
        times: beside,
      },
    ],
    seekings: [],
  });
  const of = (asking: string) => run.samples.filter(({ name }) => name === asking);
  return { neighbour: of('neighbour'), greedy: of('greedy'), run };
}

export async function studyGreedy(): Promise<void> {
  for (const [name, address] of Object.entries(neighbours)) {
    const seconds = { before: 10, beside: 60, after: 5 };
    const { neighbour, greedy, run } = await measureGreedy({
      neighbour: address,
      greedyPerSecond: 30,
      seconds,
    });
    const served = neighbour.filter(({ isFull }) => isFull).length;
    console.log(
      `greedy, neighbour of ${name}: ${served} of ${neighbour.length} served (${byCode(neighbour)}; greedy ${byCode(greedy)}) ${conditions(run)}`,
    );
  }
}
