/** All situations at full size and length; about ten minutes. */

import { newAccount } from './world/platform.ts';
import { report } from './world/report.ts';
import {
  lostStores,
  mixed,
  type Outage,
  outage,
  plain,
  poison,
  rareSymbols,
  storm,
  stormAt,
} from './world/scenarios.ts';
import type { Ages } from './world/study.ts';

const full = { clients: 10_000, seconds: 600 };
const short = { clients: 10_000, seconds: 180 };
const seconds = ({ p50, p99, max }: Ages) => [p50, p99, max].map((ms) => (ms / 1000).toFixed(2)).join('/');

/** Once the cold start is over. */
const from = 70;
const absences = {
  'the store of snapshots': ['storeAway'],
  'the limiter’s store': ['limiterAway'],
  'both stores': ['storeAway', 'limiterAway'],
} as const;

const described = (name: string, { measured, meanwhile, afterwards }: Outage) =>
  `${report(name, measured)}\n  meanwhile ${meanwhile.join(' of ')}; 5 s later ages ${seconds(afterwards)} s`;

const studies: Readonly<Record<string, () => Promise<string>>> = {
  plain: async () => report('one category without flags, from cold', await plain(full)),
  mixed: async () => report('two categories, five views, from cold', await mixed(full)),
  'symbols-200': async () => report('200 symbols', await plain(short, { symbols: 200 })),
  'symbols-5000': async () => report('5,000 symbols', await plain(short, { symbols: 5000 })),
  presets: async () => {
    const lines: string[] = [];
    for (const upstreamLimits of ['interface', 'published', 'published-sandbox'] as const)
      for (const symbols of [100, 1000]) {
        const size = { clients: 1000, seconds: 180 };
        const measured = await plain(size, { symbols }, { upstreamLimits, countFrom: from });
        lines.push(report(`${upstreamLimits}, ${symbols} symbols`, measured));
      }
    return lines.join('\n');
  },
  'published-10000': async () => {
    const lines: string[] = [];
    for (const upstreamLimits of ['published', 'published-sandbox'] as const)
      for (const symbols of [100, 1000]) {
        const size = { clients: 10_000, seconds: 250 };
        const measured = await plain(size, { symbols }, { upstreamLimits, countFrom: from });
        lines.push(report(`${upstreamLimits}, 10,000 phones, ${symbols} symbols`, measured));
      }
    return lines.join('\n');
  },
  'clients-100': async () => report('100 clients', await plain({ ...short, clients: 100 })),
  cold: async () =>
    [
      report(
        'cold start within 5 s, no invalid symbols',
        await plain({ ...full, seconds: 6 }, { invalidShare: 0 }),
      ),
      report('cold start within 5 s, invalid symbols', await plain({ ...full, seconds: 6 })),
    ].join('\n'),
  rare: async () =>
    `rare symbol: wait p50/p99/max ${seconds(await rareSymbols({ ...full, seconds: 140 }))} s`,
  down: async () => {
    const lines: string[] = [];
    for (const downBy of ['error', 'silence'] as const)
      lines.push(
        described(
          `upstream down for 30 s by ${downBy}`,
          await outage(short, ['upstreamDown'], { from, downBy }),
        ),
      );
    return lines.join('\n');
  },
  away: async () => {
    const lines: string[] = [];
    for (const [name, what] of Object.entries(absences))
      lines.push(described(`${name} away for 30 s`, await outage(short, what, { from })));
    return lines.join('\n');
  },
  'long-away': async () => {
    const size = { ...full, seconds: 330 };
    const name = 'both stores away for three minutes, each instance has its share';
    return described(name, await outage(size, absences['both stores'], { from, forSeconds: 180 }));
  },
  'storm-10000': async () =>
    report('10,000 phones from cold', await storm({ warm: 0, clients: 10_000, seconds: 20 })),
  'storm-1000': async () =>
    report('1,000 phones from cold', await storm({ warm: 0, clients: 1000, seconds: 20 })),
  'storm-500': async () =>
    report('500 phones from cold', await storm({ warm: 0, clients: 500, seconds: 20 })),
  'storm-open': async () =>
    report('300 warm, then 10,000', await storm({ warm: 300, clients: 10_000, seconds: 20 }), stormAt),
  'storm-new-account': async () =>
    report(
      '250 phones from cold on ten instances',
      await storm({ warm: 0, clients: 250, seconds: 60, platform: newAccount }),
    ),
  'storm-views': async () => report('five views from cold', await mixed({ clients: 10_000, seconds: 20 })),
  'storm-100000': async () =>
    report(
      '100,000 phones from cold',
      await storm(
        { warm: 0, clients: 100_000, seconds: 12 },
        { plan: { ratePerSecond: 1_000_000, burst: 1_000_000 } },
      ),
    ),
  lost: async () => (await lostStores()).join('\n'),
  poison: async () => {
    const { clean, poisoned } = await poison(full, 62);
    return `${report('without poison', clean)}\n${report('one caller poisons', poisoned)}`;
  },
};

/** @param filters narrow the run, each a part of a name */
export async function studyQuotes(filters: readonly string[]): Promise<boolean> {
  for (const [name, run] of Object.entries(studies)) {
    if (filters.length > 0 && !filters.some((part) => name.includes(part))) continue;
    const started = performance.now();
    console.log(await run());
    console.log(`  (${name}: ${((performance.now() - started) / 1000).toFixed(0)} s)`);
  }
  return true;
}
