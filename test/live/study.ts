/** Streams of ten thousand clients beside polling, and what following the refresh log takes of the table, at full size. */

import { type MeasuredStreams, studyStreams } from './fleet.ts';

const full = { streams: 10_000, seconds: 150, countFrom: 75 };
const seconds = ({ p50, p99, max }: MeasuredStreams['ages']) =>
  [p50, p99, max].map((ms) => (ms / 1000).toFixed(2)).join('/');
const units = ({ readUnits, peakOfKey, throttled }: MeasuredStreams) =>
  `${readUnits.toFixed(0)} units read a second, a key at most ${peakOfKey.read}/${peakOfKey.write}, ${throttled} throttled`;

const told = (measured: MeasuredStreams) =>
  `on screens ${seconds(measured.ages)} s, first event ${seconds(measured.firsts)} s after acceptance, worst minute ${measured.worstMinute}; ${units(measured)}`;

const toldBoth = (measured: MeasuredStreams) =>
  `${measured.batches > 0 ? `streamed ${seconds(measured.streamed)} s, ` : ''}fetched ${told(measured)}; ${measured.batches} batches of ${(measured.batchBytes / 1024).toFixed(1)} kB`;

const channel = { carried: 400, perSecond: 3 };
const few = { seconds: 110, countFrom: 75, processes: 10 };

async function besideChannel(upstreamLimits: 'interface' | 'published'): Promise<string> {
  const without = await studyStreams({ ...few, streams: 10_000, upstreamLimits });
  const measured = await studyStreams({ ...few, streams: 10_000, upstreamLimits, channel });
  return [
    `10,000 streams, limits ${upstreamLimits}: ${toldBoth(without)}`,
    `the same, channel of 400: ${toldBoth(measured)}`,
  ].join('\n');
}

const studies: Readonly<Record<string, () => Promise<string>>> = {
  day: async () => {
    const polledEveryMs = [5000, 1000];
    const measured = await studyStreams({ ...full, processes: 10, polledEveryMs });
    const polled = measured.polled.map(
      (ages, at) => `polled each ${polledEveryMs[at]! / 1000} s: on screens ${seconds(ages)} s`,
    );
    return [
      `10,000 streams within 60 s, ten processes: ${told(measured)}, ${measured.refused} refused`,
      ...polled,
    ].join('\n');
  },
  storm: async () => {
    const storm = { seconds: 115, countFrom: 95, allEndAt: 70 };
    const measured = await studyStreams({ ...full, ...storm, processes: 10 });
    return `all 10,000 end at once: back within ${seconds(measured.returns)} s, ${measured.refused} refused meanwhile; then ${told(measured)}`;
  },
  deaths: async () => {
    const deaths = [80, 90, 100, 110, 120];
    const measured = await studyStreams({ ...full, streams: 2000, processes: 10, deaths });
    return `2,000 streams, five of ten processes die: back within ${seconds(measured.returns)} s; ${told(measured)}`;
  },
  channel: () => besideChannel('interface'),
  'channel-published': () => besideChannel('published'),
  'channel-processes': async () => {
    const short = { withinSeconds: 10, seconds: 32, countFrom: 20 };
    const measured = await studyStreams({ ...short, streams: 100, processes: 100, channel });
    return `100 streams, 100 processes, channel of 400: ${toldBoth(measured)}`;
  },
  processes: async () => {
    const lines: string[] = [];
    for (const processes of [10, 100, 300]) {
      const measured = await studyStreams({ streams: 1000, processes, seconds: 100, countFrom: 75 });
      lines.push(`1,000 streams, ${processes} processes: ${told(measured)}`);
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
