/** Streams of ten thousand clients beside polling, and what following the refresh log takes of the table, at full size. */

import { type MeasuredStreams, studyPolling, studyStreams } from './fleet.ts';

const full = { streams: 10_000, seconds: 150, countFrom: 75 };
const seconds = ({ p50, p99, max }: MeasuredStreams['ages']) =>
  [p50, p99, max].map((ms) => (ms / 1000).toFixed(2)).join('/');
const units = ({ readUnits, peakOfKey, throttled }: MeasuredStreams) =>
  `${readUnits.toFixed(0)} units read a second, a key at most ${peakOfKey.read}/${peakOfKey.write}, ${throttled} throttled`;

const studies: Readonly<Record<string, () => Promise<string>>> = {
  day: async () => {
    const measured = await studyStreams({ ...full, processes: 10 });
    return `10,000 streams within 60 s, ten processes: on screens ${seconds(measured.ages)} s, first event ${seconds(measured.firsts)} s, worst minute ${measured.worstMinute}, ${measured.refused} refused; ${units(measured)}`;
  },
  polling: async () => {
    const lines: string[] = [];
    for (const everyMs of [5000, 1000]) {
      const { ages, worstMinute } = await studyPolling(everyMs, full);
      lines.push(
        `polling each ${everyMs / 1000} s: on screens ${seconds(ages)} s, worst minute ${worstMinute}`,
      );
    }
    return lines.join('\n');
  },
  storm: async () => {
    const measured = await studyStreams({ ...full, processes: 10, countFrom: 120, allEndAt: 80 });
    return `all 10,000 end at once: back within ${seconds(measured.returns)} s, ${measured.refused} refused meanwhile, first event ${seconds(measured.firsts)} s, then on screens ${seconds(measured.ages)} s, worst minute ${measured.worstMinute}; ${units(measured)}`;
  },
  deaths: async () => {
    const measured = await studyStreams({
      ...full,
      streams: 2000,
      processes: 10,
      deaths: [80, 90, 100, 110, 120],
    });
    return `2,000 streams, five of ten processes die: on screens ${seconds(measured.ages)} s, worst minute ${measured.worstMinute}; ${units(measured)}`;
  },
  processes: async () => {
    const lines: string[] = [];
    for (const processes of [10, 100, 300, 500]) {
      const measured = await studyStreams({ streams: 1000, processes, seconds: 100, countFrom: 75 });
      lines.push(
        `1,000 streams, ${processes} processes: on screens ${seconds(measured.ages)} s; ${units(measured)}`,
      );
    }
    return lines.join('\n');
  },
};

/** @param filters narrow the run, each a part of a name */
export async function studyLive(filters: readonly string[]): Promise<boolean> {
  for (const [name, run] of Object.entries(studies)) {
    if (filters.length > 0 && !filters.some((part) => name.includes(part))) continue;
    const started = performance.now();
    console.log(await run());
    console.log(`  (${name}: ${((performance.now() - started) / 1000).toFixed(0)} s)`);
  }
  return true;
}
