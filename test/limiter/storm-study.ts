/**
 * `npm run study -- limiter-storm`: how many units storms take of the one key, and what is sent meanwhile.
 * A study fails when any true window held more than the limit.
 */

import { burst } from './bursts.ts';
import { atOnce, type Before, cold, type StormResult, tableRow, warm } from './storm.ts';

const befores: readonly Before[] = ['idle', 'used up', 'half in use', 'mostly in use'];
const runs: readonly (readonly [string, () => Promise<StormResult>])[] = [
  ['1,000 warm instances, 600 a minute', () => warm(1, 600)],
  ['1,000 warm instances, 30,000 a minute', () => warm(2, 30_000, 2)],
  ...[1000, 50].flatMap((withinMs) =>
    befores.map(
      (before) =>
        [
          `1,000 cold instances ask once within ${withinMs} ms, ${before} before`,
          () => atOnce({ seed: 3, instances: 1000, withinMs, before }),
        ] as const,
    ),
  ),
  ...befores.map(
    (before) =>
      [
        `2,000 a second from cold for 90 s, ${before} before`,
        () => cold({ seed: 5, perSecond: 2000, seconds: 90, before }),
      ] as const,
  ),
];

export async function studyStorm(): Promise<boolean> {
  console.log(
    '| run | instances | asked | sent | of the limit | refused by Lambda | peak read units/s | peak write units/s | read units | write units | throttled | worst window | item bytes |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|---|---|---|');
  let worst = 0;
  for (const [label, run] of runs) {
    const result = await run();
    worst = Math.max(worst, result.worst);
    console.log(tableRow(label, result));
  }
  console.log(
    '\n| cold instances with slow connections | within ms | used in a minute | expired | writes | throttled | worst window |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const [callers, withinMs] of [
    [100, 100],
    [500, 500],
    [1000, 50],
    [1000, 1000],
    [2000, 1000],
  ] as const)
    for (const accidents of [{}, { freezesPerMinute: 600, killsPerMinute: 120 }]) {
      const { used, ...result } = await burst(callers, withinMs, {
        seed: callers,
        extreme: true,
        ...accidents,
      });
      worst = Math.max(worst, result.worst);
      console.log(
        `| ${callers} | ${withinMs} | ${(100 * used).toFixed(1)} % | ${result.expired} | ${result.writes} | ${result.throttled} | ${result.worst} |`,
      );
    }
  return worst <= 300;
}
