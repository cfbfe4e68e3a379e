/**
 * One limiter for all functions of a deployment: for what three of them are asked at once, in as many
 * processes as there are calls at a time, the simulated upstream refuses nothing.
 */

import assert from 'node:assert/strict';
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { describe, test } from 'vitest';
import { Upstream } from '../limiter/world/upstream.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { deployedStage, pause } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { canary, type Stage, snapshots } from './stage.ts';

/** A full window and a bit; `SECONDS` for longer. */
const seconds = Number(process.env.SECONDS ?? 75);
const callers = 12;
const share = 0.3;
const permits = share * 300;
const paths = [
  snapshots,
  '/market-data/screeners/top-actives/list?category=US_STOCK',
  '/market-data/fundamentals/company-profiles/get?symbol=AAPL&category=US_STOCK',
];

describe('through the stack', needsEmulator(), () => {
  // The plan lets everything through: what holds is the limiter alone. A slow machine uses up a part of the limit, too.
  const stage = deployedStage({
    props: { plans: { default: { ratePerSecond: 5000, burst: 5000 } }, cache: 'off', limiter: { share } },
  });

  test(`${callers} callers of three functions share one limiter`, async () => {
    const until = Date.now() + seconds * 1000;
    const answers = new Map<string, number>();
    const caller = async (index: number) => {
      while (Date.now() < until) {
        const response = await stage.call(paths[index % paths.length]!);
        const text = await response.text();
        const code = response.status === 200 ? 'ok' : (JSON.parse(text) as { code: string }).code;
        answers.set(code, (answers.get(code) ?? 0) + 1);
        if (code === 'ok') continue;
        assert.equal(code, 'budget_used_up', text);
        assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
        // Often enough to take whatever comes free, and seldom enough that refusals are not most of the work.
        await pause(1000);
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));

    const upstream = new Upstream();
    for (const { time } of stage.simulator.received) upstream.arrive(time);
    const { arrivals } = upstream;
    const [first = 0, last = 0] = [arrivals[0], arrivals.at(-1)];
    const lastMinute = upstream.between(last - 60_000, last) / permits;
    console.log(
      `  limiter, ${callers} callers of ${paths.length} functions for ${seconds} s: ` +
        `${JSON.stringify(Object.fromEntries(answers))}, upstream ${JSON.stringify(stage.simulator.counts)}, ` +
        `worst window ${upstream.worstWindow()}, ${percent(arrivals.length / ((share * (last - first)) / 200))} used, ` +
        `${percent(lastMinute)} in the last minute`,
    );
    assert.deepEqual(stage.simulator.counts, { ok: answers.get('ok') });
    assert.ok(upstream.worstWindow() <= permits);
    assert.ok(arrivals.length >= 0.98 * permits, 'what was unused is there at once');
  });

  test('each function has told of it, in figures that CloudWatch understands', async () => {
    const log = await logOf(stage);
    const told = log
      .filter((line) => line.startsWith('{"level":"info","event":"budget",'))
      .map((line) => JSON.parse(line) as { readonly Function: string; readonly BudgetRefused: number });
    const names = new Set(told.map((line) => line.Function));
    assert.equal(names.size, paths.length, [...names].join());
    assert.ok(told.some(({ BudgetRefused }) => BudgetRefused > 0));
    for (const secret of Object.values(canary)) assert.ok(!log.join('\n').includes(secret));
  });
});

/** What all functions have logged, line by line. */
async function logOf({ emulator }: Stage): Promise<readonly string[]> {
  const client = new CloudWatchLogsClient(clientConfig(emulator));
  const lines: string[] = [];
  const { logGroups = [] } = await client.send(new DescribeLogGroupsCommand({}));
  for (const { logGroupName } of logGroups)
    for await (const { events = [] } of paginateFilterLogEvents({ client }, { logGroupName }))
      lines.push(...events.map(({ message = '' }) => message.trim()));
  return lines;
}

const percent = (part: number) => `${(100 * part).toFixed(1)} %`;
